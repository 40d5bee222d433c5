"""Count the words on standard input that are long enough."""

import json
import os
import sys

shortest = int(os.environ["MIN_LENGTH"])
words = json.load(sys.stdin)["text"].split()
json.dump({"words": sum(len(word) >= shortest for word in words)}, sys.stdout)
