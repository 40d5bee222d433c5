from .app import Explorer as Explorer
from .chain import ChainReader as ChainReader
from .serving import serve_explorer as serve_explorer
