"""SOS-Toolkit: functions decorated with `@sos_tool`, and the actions of a system."""

from nexus_tools.bridges.sos.bridge import SosBridge

__all__ = ["SosBridge"]
