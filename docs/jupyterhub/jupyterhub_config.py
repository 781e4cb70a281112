"""Inside BERT on one Linux server: a JupyterHub whose people are the system's own users.

`setup.py`, beside this file, makes what is named here and puts a copy of this file where only root can change it:

    sudo /srv/inside-bert/env/bin/jupyterhub -f /srv/inside-bert/hub/jupyterhub_config.py
"""

import grp
import os
import pwd
import sys
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - JupyterHub defines it while it reads this

HUB = Path(__file__).resolve().parent
SITE = HUB.parent
INSTRUCTORS, LEARNERS = "inside-bert-instructors", "inside-bert-learners"

# Who may come in: members of these two groups, with the password of their account. Nobody can sign up.
c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {INSTRUCTORS, LEARNERS}
c.PAMAuthenticator.open_sessions = False  # a login, not a session: no mail check, no second umask

# Where it answers: on this machine alone. A web server in front of it has the certificate and speaks HTTPS to the
# world; without one, name a certificate here and listen outside, never without it:
#   c.JupyterHub.bind_url = "https://:443"
#   c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = "/etc/ssl/….pem", "/etc/ssl/private/….pem"
# All servers answer at one address, and a browser lets pages of one address act for each other: what a learner's
# server shows can do in an instructor's name what it likes, once an instructor follows a link to it. Where
# *.hub.example.org leads here too, give everybody an address of their own:
#   c.JupyterHub.subdomain_host = "https://hub.example.org"
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
# The proxy that needs no Node, given more than its 10 requests at once and 20 seconds each: a class starts together,
# and a button of the formgrader returns when it has graded. Above some dozens of people install Node's, of the same
# name, and leave this command out.
PROXY = (
    "from tornado.httpclient import AsyncHTTPClient as Client; Client.configure(None, max_clients=500);"
    "from configurable_http_proxy.cli import main; main()"
)
c.ConfigurableHTTPProxy.command = [sys.executable, "-P", "-c", PROXY, "--proxy-timeout=3600000"]
c.ConfigurableHTTPProxy.pid_file = str(HUB / "proxy.pid")
c.JupyterHub.db_url = f"sqlite:///{HUB / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(HUB / "cookie_secret")  # made on the first start, for root alone


def course_of(spawner):
    """The folder this person works from: all of the course for an instructor, what learners get for the others."""
    name = spawner.user.name
    groups = os.getgrouplist(name, pwd.getpwnam(name).pw_gid)
    return str(SITE / ("course" if grp.getgrnam(INSTRUCTORS).gr_gid in groups else "learner"))


# What a person gets: a server that runs as they and answers on this machine alone. `-P`: a file in somebody's home
# is no module of the course. Without HF_HUB_OFFLINE lessons ask the Hugging Face Hub for the published models.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.env_keep = ["PATH", "LANG", "LC_ALL"]
c.Spawner.cmd = [sys.executable, "-P", "-m", "insidebert.hub"]
c.Spawner.environment = {"INSIDEBERT_COURSE": course_of, "HF_HUB_OFFLINE": "1"}
c.Spawner.ip = "127.0.0.1"
c.Spawner.http_timeout = c.Spawner.start_timeout = 120  # a whole class starts at once

# Idle limits: a notebook nobody uses loses its kernel after an hour, a server without any ends after another.
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--MappingKernelManager.cull_interval=300",
    "--TerminalManager.cull_inactive_timeout=3600",
    "--ServerApp.shutdown_no_activity_timeout=3600",
]
