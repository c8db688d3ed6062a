"""The guarded database, whole: made when it is not there yet, and served.

askback call "python -m examples.guarded_sql" query statement="SELECT name, email FROM customers"
python -m examples.guarded_sql --http, and then: askback call http://127.0.0.1:8000/mcp tables
"""

from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path

from examples.guarded_sql.database import ORDERS, make_database, open_hardened
from examples.guarded_sql.server import make_server

TAGS = Path(__file__).with_name("catalogue.toml")
DATABASE = Path(__file__).parents[2] / ".build" / "shop.duckdb"


def main() -> None:
    """Serve until the client leaves, or for ever."""
    parser = ArgumentParser(prog="python -m examples.guarded_sql")
    parser.add_argument("--http", action="store_true", help="serve HTTP instead of stdio")
    parser.add_argument("--port", type=int, default=8000, help="for HTTP")
    parser.add_argument(
        "--database", type=Path, default=DATABASE, help="a DuckDB file, made if it is not there"
    )
    parser.add_argument("--orders", type=int, default=ORDERS, help="how many rows, where it is made")
    parser.add_argument(
        "--tags", type=Path, default=TAGS, help="a TOML file that says which columns are personal"
    )
    chosen = parser.parse_args()
    with closing(open_hardened(make_database(chosen.database, orders=chosen.orders))) as connection:
        server = make_server(connection, chosen.tags)
        if chosen.http:
            server.run("streamable-http", host="127.0.0.1", port=chosen.port)
        else:
            server.run()


if __name__ == "__main__":
    main()
