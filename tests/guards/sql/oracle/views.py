"""The views of the oracle's shop that all engines have: nested, renaming, with stars, with tagged conditions."""

from tests.guards.sql.oracle.relations import View, columns

PEOPLE = "id:int, name:text, email:text!, country:text, born:date!, tags:list, notes:json, address:struct"

VIEWS = (
    View("people", "SELECT * FROM customers", columns(PEOPLE)),
    View(
        "contacts",
        "SELECT id, lower(email) AS reach, country FROM people",
        columns("id:int, reach:text!, country:text"),
    ),
    View(
        "by_country",
        "SELECT country, count(*) AS n FROM customers GROUP BY country",
        columns("country:text, n:int"),
    ),
    View(
        "residents",
        "SELECT p.id, p.country, c.title FROM people p JOIN countries c ON c.code = p.country",
        columns("id:int, country:text, title:text"),
    ),
    View(
        "grown",
        "SELECT id, country FROM customers WHERE born < '2000-01-01'",
        columns("id:int, country:text"),
        has_tagged_rows=True,
    ),
    View(
        "swapped",
        "SELECT email, id, country AS born FROM people",
        columns("id:text!, email:int, c d:text"),
        names=("id", "email", "c d"),
    ),
    View(
        "The View",
        "SELECT p.*, o.total, o.status FROM people p LEFT JOIN orders o ON o.customer_id = p.id",
        columns(f"{PEOPLE}, total:int, status:text"),
    ),
    View(
        "rich",
        "SELECT * FROM (SELECT id, c, orders FROM staff WHERE salary > 4) AS customers",
        columns("id:int, c:text, orders:text"),
        has_tagged_rows=True,
    ),
    View(
        "topped",
        "SELECT id, name FROM people ORDER BY born, id LIMIT 3",
        columns("id:int, name:text"),
        has_tagged_rows=True,
    ),
    View("latest", "WITH q AS (SELECT * FROM orders) SELECT q.id, q.day FROM q", columns("id:int, day:date")),
    View(
        "merged",
        "SELECT id, name AS n FROM customers UNION ALL SELECT id, c FROM c",
        columns("id:int, n:text!"),
        has_tagged_rows=True,
    ),
    View("shorts", "SELECT id, short AS s, loud FROM badges", columns("id:int, s:text!, loud:text")),
)
