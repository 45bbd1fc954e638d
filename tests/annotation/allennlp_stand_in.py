"""A small process that speaks as annotation/allennlp/server.py does, and misbehaves when it is asked to."""

import json
import os
import sys
import time
from pathlib import Path

for line in sys.stdin:
    asked = json.loads(line)
    words = [sentence["words"] for sentence in asked.get("sentences", [])]
    flat = [word for sentence in words for word in sentence]
    if "DIE" in flat:
        os._exit(3)
    if "DIE-ONCE" in flat and not Path(sys.argv[1]).exists():
        Path(sys.argv[1]).touch()
        os._exit(3)
    if "HANG" in flat:
        time.sleep(60)
    if "NONSENSE" in flat:
        print("this is no JSON", flush=True)
        continue
    answer = {"id": asked["id"]}
    if "ERROR" in flat:
        answer["error"] = "ValueError: no"
    elif asked["do"] == "ping":
        answer["ready"] = ["srl"]
    elif asked["do"] == "frames":
        answer["frames"] = [
            [
                ["B-ARG0" if place < verb else "B-V" if place == verb else "B-ARG1" for place in range(len(s["words"]))]
                for verb in s["verbs"]
            ]
            for s in asked["sentences"]
        ]
    elif asked["do"] == "clusters":
        answer["clusters"] = [[[0, 1], [4, 4]]]
    elif asked["do"] == "trees":
        leaves = [zip(s["tags"], s["words"], strict=True) for s in asked["sentences"]]
        answer["trees"] = ["(S " + " ".join(f"({tag} {word})" for tag, word in own) + ")" for own in leaves]
    print(json.dumps(answer), flush=True)
