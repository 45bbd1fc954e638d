"""Builds tiny AllenNLP archives with random weights: what they say means nothing, how they say it is real.

python allennlp_tiny_models.py FOLDER (with the interpreter of ALLENNLP_PYTHON)
"""

import json
import sys
from pathlib import Path

import allennlp_models.coref
import allennlp_models.structured_prediction  # noqa: F401
import torch  # noqa: TID253
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.models.archival import archive_model

EMBEDDER = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 8}}}
INDEXERS = {"tokens": {"type": "single_id"}}


def feedforward(size):
    return {"input_dim": size, "num_layers": 1, "hidden_dims": 8, "activations": "relu"}


CONFIGS = {
    "srl": {
        "dataset_reader": {"type": "srl", "token_indexers": INDEXERS},
        "model": {
            "type": "srl",
            "text_field_embedder": EMBEDDER,
            "encoder": {"type": "lstm", "input_size": 16, "hidden_size": 8, "bidirectional": True},
            "binary_feature_dim": 8,
        },
    },
    "coref": {
        "dataset_reader": {"type": "coref", "token_indexers": INDEXERS, "max_span_width": 4},
        "model": {
            "type": "coref",
            "text_field_embedder": EMBEDDER,
            "context_layer": {"type": "lstm", "input_size": 8, "hidden_size": 4, "bidirectional": True},
            "mention_feedforward": feedforward(28),
            "antecedent_feedforward": feedforward(28 * 3 + 4),
            "feature_size": 4,
            "max_span_width": 4,
            "spans_per_word": 0.4,
            "max_antecedents": 10,
        },
    },
    "constituency": {
        "dataset_reader": {"type": "ptb_trees", "token_indexers": INDEXERS, "use_pos_tags": True},
        "model": {
            "type": "constituency_parser",
            "text_field_embedder": EMBEDDER,
            "pos_tag_embedding": {"embedding_dim": 4, "vocab_namespace": "pos"},
            "encoder": {"type": "lstm", "input_size": 12, "hidden_size": 8, "bidirectional": True},
            "span_extractor": {"type": "bidirectional_endpoint", "input_dim": 16},
        },
    },
}
LABELS = {
    "srl": ["O", "B-V", "I-V", "B-ARG0", "I-ARG0", "B-ARG1", "I-ARG1"],
    "coref": [],
    "constituency": ["NO-LABEL", "S", "NP", "VP", "PP"],
}


def build(name, folder):
    torch.manual_seed(0)
    vocabulary = Vocabulary()
    for word in ["nora", "fisk", "won", "the", "race", "she", "left", "leeds", "on", "friday", "."]:
        vocabulary.add_token_to_namespace(word, "tokens")
    for label in LABELS[name]:
        vocabulary.add_token_to_namespace(label, "labels")
    for tag in ["NNP", "VBD", "DT", "NN", "PRP", "IN", "."]:
        vocabulary.add_token_to_namespace(tag, "pos")
    model = Model.from_params(Params(json.loads(json.dumps(CONFIGS[name]["model"]))), vocab=vocabulary)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIGS[name]))
    vocabulary.save_to_files(str(folder / "vocabulary"))
    torch.save(model.state_dict(), str(folder / "best.th"))
    archive_model(str(folder), weights="best.th")


for each in CONFIGS:
    build(each, Path(sys.argv[1]) / each)
