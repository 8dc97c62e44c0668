"""``python -m sparkconfig.agent``."""

from sparkconfig.agent.main import main

main()
