"""Services for the tools, leaders, invocations, workflows and schedules of a deployment.

Each service (`ToolRegistry`, `LeaderRegistry`, `Invocations`, `Executions`, …) reads on-chain
objects, whose types `contracts` defines, and sends transactions. Start reading at `nexus.Nexus`,
which creates all services.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
