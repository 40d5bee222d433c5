"""Models of the search by intent that count their work or wait."""

import hashlib
import threading

from nexus_tools.index.search.words import split_fqn


class SlowModel:
    """A model that encodes one tool at a time. The text of a tool is its name and description."""

    digest = "slow"
    dimensions = 64
    min_similarity = 0.3
    tools_at_once = 1

    def __init__(self):
        self.texts = []
        """All texts that were encoded."""
        self._encoded = threading.Condition()

    def tool_text(self, tool):
        return f"{split_fqn(tool.fqn)[2]} {tool.description}"

    def encode(self, text):
        return hashlib.shake_128(text.encode()).digest(self.dimensions)

    def encode_all(self, texts):
        with self._encoded:
            self.texts += texts
            self._encoded.notify_all()
        return [self.encode(text) for text in texts]

    def wait_for(self, word):
        """Wait until a text with a word was encoded."""
        with self._encoded:
            assert self._encoded.wait_for(
                lambda: any(word in text for text in self.texts), timeout=20
            )


class PausedModel(SlowModel):
    """A model that waits in its first text until it may continue."""

    def __init__(self):
        super().__init__()
        self.started, self.continue_ = threading.Event(), threading.Event()

    def encode_all(self, texts):
        self.started.set()
        self.continue_.wait(20)
        return super().encode_all(texts)
