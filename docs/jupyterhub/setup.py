"""Sets up Inside BERT for several people on one Linux server: users, groups, folders, exchange.

    sudo /srv/inside-bert/env/bin/python docs/jupyterhub/setup.py --instructor mary --learner ada --learner ben

Run it again to add people or to bring newer lessons: nothing that instructors or learners wrote is touched.

    source/     a clone of the repository, root's                (made by you)
    env/        the Python environment, everybody's to run       (made by you; the course is installed there)
    hub/        JupyterHub's configuration and state             0700 root
    learner/    the lessons, which each learner gets a copy of   0755 root
    course/     the course, its gradebook and its submissions    2770 instructors
    exchange/   nbgrader's: released, handed in, returned        0755 root, see EXCHANGE
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
INSTRUCTORS, LEARNERS = "inside-bert-instructors", "inside-bert-learners"
COURSE_ID = "inside-bert"
FIRST_PERSON = 1000  # smaller numbers are the system's own
CONTENT = ("lessons", "exercises", "solutions", "nbgrader_config.py", "requirements.lock")
# Where learners fetch, hand in (writable, not readable, sticky: they find nothing, and take nothing away) and get
# their feedback (whose names nobody can guess, in a folder nobody can list). All belong to the instructors' group,
# and so does what is written into them.
EXCHANGE = {"": 0o2775, "outbound": 0o2775, "inbound": 0o3773, "feedback": 0o2771}
NBGRADER = """
# Several people on one server: written by docs/jupyterhub/setup.py.
c.Exchange.root = {exchange!r}
c.CourseDirectory.groupshared = True  # the folders above belong to a group, not to one person
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Sets up users, groups, folders and exchange of the course.")
    parser.add_argument("--instructor", action="append", default=[], metavar="NAME", help="may be repeated")
    parser.add_argument("--learner", action="append", default=[], metavar="NAME", help="may be repeated")
    parser.add_argument("--site", type=Path, default=Path("/srv/inside-bert"), help="default: %(default)s")
    args = parser.parse_args(arguments)
    if os.geteuid() != 0:
        sys.exit("setup.py makes users and gives folders to them: run it as root, with sudo.")
    os.umask(0o022)
    site = args.site.resolve()
    site.mkdir(parents=True, exist_ok=True)
    refuse_closed_folders(site)
    refuse_accounts_of_nobody([*args.instructor, *args.learner])
    for group in (INSTRUCTORS, LEARNERS):
        run("groupadd", "--force", group)
    for group, names in ((INSTRUCTORS, args.instructor), (LEARNERS, args.learner)):
        for name in names:
            add_person(name, group)
    make_exchange(site / "exchange")
    lay_learners_folder(site / "learner", site / "exchange")
    lay_course(site / "course", site / "exchange")
    lay_hub(site / "hub")
    if not closed_folder(SOURCE):
        print(f"Anybody here can read the solutions in {SOURCE}: close it with `chmod 700 {SOURCE}`.")
    print(f"Give each new person a password with `passwd NAME`. Then: {hub_command(site)}")


def refuse_closed_folders(site: Path) -> None:
    """Stops where those who are not root could not run this Python or reach `site`."""
    nobody = pwd.getpwnam("nobody")
    probe = "import jupyterhub, insidebert, checks, grading"
    try:
        subprocess.run([sys.executable, "-P", "-c", probe], user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[],
                       cwd="/", env={"HOME": "/nonexistent"}, check=True, capture_output=True, text=True)  # fmt: skip
    except PermissionError:
        sys.exit(f"Nobody but root may run {sys.executable}: {closed_folder(Path(sys.executable))}. Make the "
                 "environment with a Python and in a folder that are open to all, such as "
                 "`/usr/bin/python3 -m venv /srv/inside-bert/env`.")  # fmt: skip
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        sys.exit(f"{sys.executable}, run by others than root, cannot `{probe}`: {last}. Install requirements.lock "
                 "and the course itself in an environment that is open to all.")  # fmt: skip
    if closed := closed_folder(site):
        sys.exit(f"Nobody but root could reach {site}: {closed}. Name another folder with --site.")


def closed_folder(path: Path) -> str:
    """Names the first folder on the way to `path`, and to what it is a link to, that others may not pass; else ""."""
    way = [folder for end in (path, path.resolve()) for folder in (*reversed(end.parents), end)]
    closed = (folder for folder in way if folder.is_dir() and not folder.stat().st_mode & 0o001)
    return next((f"others may not pass {folder}" for folder in closed), "")


def refuse_accounts_of_nobody(names: Sequence[str]) -> None:
    """Stops, before anything is made, at a name of the system's or one under which the Hub would find nobody."""
    for name in names:
        if name != name.lower():
            sys.exit(f"JupyterHub knows people in small letters only: name {name.lower()}, not {name}.")
        try:
            number = pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
        if number < FIRST_PERSON or name == "nobody":  # the home of some is /bin, which all need
            sys.exit(f"{name} is an account of the system's, user {number}, and no person's: name another.")


def add_person(name: str, group: str) -> None:
    """Makes the account where there is none, without a password, and closes its home to others."""
    try:
        pwd.getpwnam(name)
    except KeyError:
        run("useradd", "--create-home", "--shell", "/bin/bash", name)
    account = pwd.getpwnam(name)
    home = Path(account.pw_dir)
    if not home.is_dir() or home.stat().st_uid != account.pw_uid:
        sys.exit(
            f"{name}'s home {home} is missing or belongs to somebody else; make it theirs and run this again."
        )
    run("usermod", "--append", "--groups", group, name)
    # What they hand in is also kept in their home; it must not be open to the others.
    home.chmod(0o700)


def make_exchange(exchange: Path) -> None:
    exchange.mkdir(exist_ok=True)
    exchange.chmod(0o755)  # learners could otherwise move the course away and put their own there
    for name, mode in EXCHANGE.items():
        folder = exchange / COURSE_ID / name
        folder.mkdir(exist_ok=True)
        shutil.chown(folder, "root", INSTRUCTORS)
        folder.chmod(mode)


def lay_learners_folder(folder: Path, exchange: Path) -> None:
    """What a learner's server starts from, made anew each time; exercises come through the exchange."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        fresh = Path(scratch, folder.name)
        copy(SOURCE / "lessons", fresh / "lessons")
        copy(SOURCE / "insidebert" / "learner" / "nbgrader_config.py", fresh / "nbgrader_config.py")
        tell_nbgrader(fresh / "nbgrader_config.py", exchange)
        for path in [fresh, *fresh.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        if folder.exists():
            folder.rename(Path(scratch, "before"))
        fresh.rename(folder)


def lay_course(course: Path, exchange: Path) -> None:
    """The instructors' folder, the first time; afterwards it is theirs.

    It is made and given away where only root can go: elsewhere somebody could put a link to another file.
    """
    if course.exists():
        return
    with tempfile.TemporaryDirectory(dir=course.parent) as scratch:
        fresh = Path(scratch, course.name)
        for name in CONTENT:
            copy(SOURCE / name, fresh / name)
        tell_nbgrader(fresh / "nbgrader_config.py", exchange)
        (fresh / "gradebook.db").touch()  # SQLite would make it for one instructor alone
        give_to_group(fresh, INSTRUCTORS)
        fresh.rename(course)


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
    else:
        shutil.copyfile(source, target)


def give_to_group(folder: Path, group: str) -> None:
    """Opens a tree to a group and closes it to all others; what is made in it later belongs to the group too."""
    for path in [folder, *folder.rglob("*")]:
        shutil.chown(path, group=group)
        path.chmod(0o2770 if path.is_dir() else 0o660)


def tell_nbgrader(configuration: Path, exchange: Path) -> None:
    with configuration.open("a", encoding="utf-8") as file:
        file.write(NBGRADER.format(exchange=str(exchange)))


def lay_hub(hub: Path) -> None:
    """The Hub's own folder; its configuration is root's program, so nobody else may write it. Yours is kept."""
    hub.mkdir(exist_ok=True)
    hub.chmod(0o700)
    name = "jupyterhub_config.py"
    if not (hub / name).exists():
        shutil.copyfile(Path(__file__).with_name(name), hub / name)


def hub_command(site: Path) -> str:
    return f"{Path(sys.executable).with_name('jupyterhub')} -f {site / 'hub' / 'jupyterhub_config.py'}"


def run(*words: str) -> None:
    if subprocess.run(words).returncode:
        sys.exit(f"`{' '.join(words)}` failed; put right what it says and run this again.")


if __name__ == "__main__":
    main()
