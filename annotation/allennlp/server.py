"""Runs AllenNLP's models for another process. Stand-alone: Python 3.8 to 3.10, nothing of this product.

    python server.py --srl MODEL --coref MODEL --constituency MODEL

A line of JSON in, a line of JSON out, in order:

    {"id": 1, "do": "ping"}                                              → {"id": 1, "ready": ["srl"]}
    {"id": 2, "do": "frames", "sentences": [{"words": […], "verbs": [1]}]} → {"id": 2, "frames": [[["B-ARG0", …], …]]}
    {"id": 3, "do": "clusters", "sentences": [{"words": […]}, …]}          → {"id": 3, "clusters": [[[0, 1], [7, 7]]]}
    {"id": 4, "do": "trees", "sentences": [{"words": […], "tags": […]}]}   → {"id": 4, "trees": ["(S (NP …"]}
    what cannot be done                                                  → {"id": 4, "error": "…"}

Words come tokenised, with the places of the verbs and the tags where a model wants them: AllenNLP's own tokenizer needs
a model of spaCy 3.3 that no package registry has. Models are loaded when they are first asked for.
"""

import argparse
import json
import os
import sys

MODELS = {"frames": "srl", "clusters": "coref", "trees": "constituency"}


class Models:
    def __init__(self, paths):
        self.paths = {name: path for name, path in paths.items() if path}
        self.loaded = {}

    def archive(self, name):
        if name not in self.paths:
            raise ValueError(f"no model for {name} was named; start with --{name}")
        if name not in self.loaded:
            import allennlp_models.coref
            import allennlp_models.structured_prediction  # noqa: F401
            from allennlp.models.archival import load_archive

            self.loaded[name] = load_archive(self.paths[name])
        return self.loaded[name]

    def frames(self, sentences):
        """For each sentence a list of frames, one for each verb, each with one tag for each word."""
        archive = self.archive("srl")
        from allennlp.data.tokenizers import Token

        found = []
        for sentence in sentences:
            words = [Token(word) for word in sentence["words"]]
            instances = []
            for place in sentence["verbs"]:
                marks = [int(number == place) for number in range(len(words))]
                instances.append(archive.validation_dataset_reader.text_to_instance(words, marks))
            outputs = archive.model.forward_on_instances(instances) if instances else []
            found.append([list(output["tags"]) for output in outputs])
        return found

    def clusters(self, sentences):
        """The clusters of a document: spans of words, both ends included, counted over all its sentences."""
        archive = self.archive("coref")
        instance = archive.validation_dataset_reader.text_to_instance([sentence["words"] for sentence in sentences])
        output = archive.model.forward_on_instance(instance)
        return [[list(map(int, span)) for span in cluster] for cluster in output["clusters"]]

    def trees(self, sentences):
        """For each sentence its tree in brackets, on one line."""
        archive = self.archive("constituency")
        found = []
        for sentence in sentences:
            instance = archive.validation_dataset_reader.text_to_instance(sentence["words"], sentence["tags"])
            output = archive.model.forward_on_instance(instance)
            found.append(" ".join(output["trees"].pformat(margin=1000000).split()))
        return found


def answer(models, line):
    try:
        asked = json.loads(line)
        number = asked["id"]
    except (ValueError, KeyError, TypeError):
        return {"id": None, "error": "a line must be a JSON object with an id"}
    try:
        if asked["do"] == "ping":
            return {"id": number, "ready": sorted(models.paths)}
        if asked["do"] not in MODELS:
            raise ValueError(f"nobody can do {asked['do']!r} here")
        return {"id": number, asked["do"]: getattr(models, asked["do"])(asked["sentences"])}
    except Exception as error:  # told to the other side; the next line may be better
        return {"id": number, "error": f"{type(error).__name__}: {error}"}


def main():
    parser = argparse.ArgumentParser(description="AllenNLP's models over JSON lines")
    for name in MODELS.values():
        parser.add_argument("--" + name)
    models = Models(vars(parser.parse_args()))
    # Libraries print what they like: only answers may reach the pipe.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        if line.strip():
            out.write(json.dumps(answer(models, line)) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
