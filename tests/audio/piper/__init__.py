"""Stands in for piper: its names, a tone for words, and the time at which its own sound starts.

It takes as long as a small voice on a common machine to load and to make a sentence of speech (HEARKEN_TIMES names the
file for the times).
"""

import array
import math
import os
import time
from types import SimpleNamespace

RATE = 22050


class SynthesisConfig:
    def __init__(self, length_scale=1.0):
        self.length_scale = length_scale


class PiperVoice:
    config = SimpleNamespace(sample_rate=RATE)

    @staticmethod
    def load(path):
        assert path.endswith(".onnx"), path
        time.sleep(0.5)
        return PiperVoice()

    def synthesize(self, text, syn_config=None):
        for sentence in text.split(". "):
            time.sleep(0.05)
            seconds = len(sentence) / 15 * syn_config.length_scale
            wave = (int(9000 * math.sin(2 * math.pi * 440 * at / RATE)) for at in range(int(seconds * RATE)))
            sound = array.array("h", wave).tobytes()
            with open(os.environ["HEARKEN_TIMES"], "a") as times:
                times.write(f"{time.time()}\n")
            yield SimpleNamespace(audio_int16_bytes=sound)
