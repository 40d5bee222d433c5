"""The bridge to SOS-Toolkit: functions decorated with `@sos_tool`, and the actions of a system.

Start reading at `bridge.py`. `child` runs in the interpreter of the tools.
"""

from nexus_tools.bridges.sos.bridge import SosBridge

__all__ = ["SosBridge"]
