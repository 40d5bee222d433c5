"""Services for the tools, leaders, invocations, workflows and schedules of a deployment.

Each service (`ToolRegistry`, `LeaderRegistry`, `Invocations`, `Executions`, …) reads objects of
`package` and sends transactions. `nexus.Nexus` creates all of them: start reading there.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
