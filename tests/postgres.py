"""A real PostgreSQL server for tests."""

import secrets
from contextlib import contextmanager

from benchmarks.postgres_server import PostgresServer, find_programs, postgres_folder
from nexus_tools.leader.journal.postgres_url import PostgresUrl


class Server(PostgresServer):
    """A server with the sessions, schemas and roles that tests need."""

    def new_url(self, role="postgres"):
        """Return the URL of a journal in a new schema."""
        return self.url(f"test_{secrets.token_hex(8)}", role)

    def new_location(self):
        return PostgresUrl.parse(self.new_url())

    def new_role(self):
        """Create a role that may create schemas, and return its name."""
        role = f"role_{secrets.token_hex(8)}"
        self.execute(f"CREATE ROLE {role} LOGIN; GRANT CREATE ON DATABASE postgres TO {role}")
        return role

    def cut_sessions(self):
        """End the sessions of all journals, wait for it, and return how many there were."""
        return self._count("pg_terminate_backend(pid, 60000)")

    def sessions(self):
        """Return the number of sessions of journals."""
        return self._count("pid")

    def _count(self, expression):
        [(count,)] = self.execute(
            f"SELECT count({expression}) FROM pg_stat_activity"
            " WHERE application_name LIKE 'nexus-tools %'"
        )
        return count


@contextmanager
def running_server():
    """Run a server in a temporary folder until the block ends."""
    with postgres_folder() as folder:
        server = Server(folder, find_programs())
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
