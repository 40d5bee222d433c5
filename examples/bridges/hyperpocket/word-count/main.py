"""Count the words of a text that have a minimum length. The arguments are on standard input."""

import json
import os
import sys

shortest = int(os.environ["MIN_LENGTH"])
words = json.load(sys.stdin)["text"].split()
json.dump({"words": sum(len(word) >= shortest for word in words)}, sys.stdout)
