"""The scripts are run by the test, and not imported for their doctests."""

collect_ignore_glob = ["[!_ct]*.py", "teacher.py"]
