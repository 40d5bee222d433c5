"""The semantics of a workflow with the counters of `records.move`: bytes and effort.

Each region closes by a separate step, as on chain.
"""

from nexus_tools.workflow import BlockKind, EdgeKind, Execution, InputPort
from nexus_tools.workflow.semantics.records import Records

# Source: `records.move`, `effort.move`.
RUN_BYTES, INSTANCE_BYTES, MARK_BYTES, NUMBER_BYTES = 316, 293, 289, 4
DELIVERY_BYTES, CURSOR_BYTES, BROUGHT_BYTES = 9, 12, 18
LOOK, BROUGHT, PORT, SOURCE, EDGE, OPEN, REQUEST = 20, 2, 5, 2, 75, 62, 150
ANSWER_PORT, START = 2, 30


class CountedRecords(Records):
    """Records that count `written` bytes and `effort`."""

    def __init__(self, plan):
        super().__init__(plan)
        self.written = self.effort = 0
        self.was_inside = False

    def take(self, instance, iteration, head):
        runs = super().take(instance, iteration, head)
        self.written += sum(RUN_BYTES + NUMBER_BYTES * len(run.path) for run in runs)
        return runs

    def put(self, run, value):
        is_new = run not in self.runs
        self.effort += EDGE
        self.scan(value.edge.target, run.path, static=False)
        if not super().deliver(run, value):
            return False
        self.written += DELIVERY_BYTES
        self.written += RUN_BYTES + NUMBER_BYTES * len(run.path) if is_new else 0
        return True

    def put_in_scope(self, instance, value):
        edge, is_new = value.edge, instance not in self.instances
        self.effort += EDGE
        self.scan(edge.target, instance[1], static=edge.kind is EdgeKind.STATIC)
        if not super().deliver_to_scope(instance, value):
            return False
        self.written += BROUGHT_BYTES + len(edge.rounds) + (edge.element is not None)
        self.written += INSTANCE_BYTES + NUMBER_BYTES * len(instance[1]) if is_new else 0
        return True

    def gather(self, edge, value):
        is_first = super().gather(edge, value)
        if len(self.edges_to(edge.collected_region, edge.target)) > 1:
            self.effort += EDGE
            depth = self.plan.blocks[edge.collected_region].depth
            self.written += (MARK_BYTES + NUMBER_BYTES * depth) * is_first
        return is_first

    def edges_to(self, block, target):
        """Return the edges by which a region gathers a list."""
        return [
            edge
            for vertex in self.plan.vertices.values()
            for edge in vertex.incoming.get(target.port, ())
            if edge.collected_region == block and edge.target == target
        ]

    def has(self, block, path, need):
        self.scan(need, path, static=True)
        is_region = self.plan.blocks[block].kind is BlockKind.REGION
        if is_region and not self.scope_value(need, path, static=True):
            self.scan(need, path, static=False)
        return super().has(block, path, need)

    def is_inside_open(self, blocks, path):
        self.was_inside = super().is_inside_open(blocks, path)
        return self.was_inside

    def scan(self, target, path, *, static):
        """Count the search for values of blocks around a path."""
        for depth, block in enumerate(self.plan.vertices[target.vertex].blocks[: len(path) + 1]):
            self.effort += LOOK
            instance = self.instances.get((block, path[:depth]))
            if instance:
                self.effort += BROUGHT * len(instance.brought)
                value = instance.brought.get((target, static))
                if value and value.edge.reaches(path):
                    return

    def look(self, run):
        """Count a read of a run's ports."""
        vertex, record = self.plan.vertices[run.vertex], self.runs.get(run)
        brought = record.brought if record else {}
        around = ((block, run.path[:depth]) for depth, block in enumerate(vertex.blocks))
        known = (self.instances[item] for item in around if item in self.instances)
        self.effort += (
            LOOK + PORT * len(vertex.incoming) + BROUGHT * sum(len(x.brought) for x in known)
        )
        for port, edges in vertex.incoming.items():
            target = InputPort(run.vertex, port)
            if port in brought or self.scope_value(target, run.path, static=False):
                continue
            is_static = any(edge.kind is EdgeKind.STATIC for edge in edges)
            if is_static or port in vertex.entries or port in vertex.constants:
                sources = sum(edge.scope is None for edge in edges)
                self.effort += (SOURCE + len(brought)) * sources


class CountedExecution(Execution):
    """An execution with counted records, whose regions wait to be gathered."""

    def __init__(self, plan):
        super().__init__(plan)
        self._records = CountedRecords(plan)
        self.waiting_regions = {}
        self._is_opening = False

    @property
    def records(self):
        """Its records."""
        return self._records

    @property
    def is_ending(self):
        """Whether it ends early."""
        return self._ending is not None

    @property
    def is_over(self):
        """Whether nothing more can happen."""
        left = self._ready or self._unfinished or self.waiting_regions
        return not self._under_way and (self.is_ending or not left)

    def take_counts(self):
        """Return and reset the counted bytes and effort."""
        counts = self._records.written, self._records.effort
        self._records.written = self._records.effort = 0
        return counts

    def gather(self, block, path):
        """Move gathered lists out of a region. Return False if the region is not finished."""
        if self.is_ending or (block, path) not in self.waiting_regions:
            return False
        del self.waiting_regions[block, path]
        super()._close_region((block, path))
        while self._emptied:
            self.waiting_regions[self._emptied.popleft()] = None
        return True

    def end_early(self, status):
        """End it."""
        self._end(status)

    # --- Steps that the semantics take at once

    def _close_region(self, instance):
        self.waiting_regions[instance] = None

    def _end(self, status):
        super()._end(status)
        self.waiting_regions.clear()

    def _flow(self, run, variant, lengths):
        edges = self.plan.vertices[run.vertex].variants.get(variant, ())
        self._records.effort += ANSWER_PORT * len(edges) * len(lengths)
        super()._flow(run, variant, lengths)

    def _check_run(self, run):
        self._records.effort += START * self._is_opening
        records, is_new = self._records, run not in self._records.runs
        records.was_inside = False
        super()._check_run(run)
        if records.was_inside:
            records.look(run)
        if is_new and run in records.runs:
            records.written += RUN_BYTES + NUMBER_BYTES * len(run.path)

    def _check_instance(self, number, path):
        block, record = self.plan.blocks[number], self._records.instances.get((number, path))
        if block.kind is BlockKind.REGION and (record is None or record.is_open):
            # The check that nothing has to be opened follows after the needs.
            if self._ending is None:
                all(self._records.has(number, path, need) for need in block.required_ports)
            return
        was_opening, self._is_opening = self._is_opening, block.kind is not BlockKind.REGION
        super()._check_instance(number, path)
        self._is_opening = was_opening

    def _open_region(self, instance, record):
        number, path = instance
        heads = self.plan.blocks[number].cursors
        for head in heads:
            self._records.look(self._records.iteration(head, path, 0))
        self._records.effort += OPEN * (1 + len(heads))
        self._records.written += CURSOR_BYTES * len(heads)
        super()._open_region(instance, record)
