"""How gunicorn serves the product: gunicorn --config python:workbench.gunicorn_conf workbench.wsgi"""

import os

workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = 4
# Nobody is believed about https here; TRUST_PROXY=1 makes Django believe the proxy in front.
forwarded_allow_ips = ""
control_socket_disable = True
