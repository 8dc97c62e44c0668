"""Spark's UI with users who have logged in, and administrators."""

from __future__ import annotations

from urllib.request import Request, urlopen

import pyspark

from support.processes import Child

#: YARN's own filter of the UI: it takes the user from a cookie of its proxy. Nobody else reaches these servers here.
FILTER = (
    "org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter"
    if pyspark.__version__.startswith("3.")
    else "org.apache.spark.deploy.yarn.AmIpFilter"
)
UI = {
    "spark.ui.enabled": "true",
    "spark.ui.port": "0",
    "spark.ui.filters": FILTER,
    f"spark.{FILTER}.param.PROXY_HOSTS": "127.0.0.1",
    f"spark.{FILTER}.param.PROXY_URI_BASES": "http://127.0.0.1:1",
    "spark.acls.enable": "true",
    "spark.ui.view.acls": "*",
    "spark.admin.acls": "chief",
}


def page(server: Child, user: str, path: str = "json/") -> str:
    """The page Config as this user sees it; ``""``: nobody has logged in."""
    port = server.wait_for(r"service 'SparkUI' on port (\d+)", timeout=60)[1]
    request = Request(
        f"http://127.0.0.1:{port}/config/{path}", headers={"Cookie": f"proxy-user={user}"} if user else {}
    )
    with urlopen(request, timeout=60) as answer:
        return str(answer.read().decode())
