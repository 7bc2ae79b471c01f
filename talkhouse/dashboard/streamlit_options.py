"""Streamlit's options: each is ours or its default, whatever files, secrets and the environment say.

Streamlit reads ``.streamlit/config.toml`` and ``secrets.toml`` of the home folder, of the folder that it was started in
and of the script's folder, and puts secrets into the environment, which the commands that make files inherit. Whoever
can write one of these folders could take every limit away. So no such file is read at all. Options given as flags would
override files too, but not the secrets, nor what a damaged file does.
"""

import os
from collections.abc import Mapping
from typing import Any

from talkhouse.schema.errors import TalkhouseError

ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")
"""What the server is called; a page elsewhere can't reach it under another name (DNS rebinding)."""

_VARIABLES = "STREAMLIT_"

_OPTIONS: Mapping[str, Any] = {
    # The guard refuses what these refuse, and more. They hold without it too.
    "server.address": ADDRESS,
    "server.allowedHosts": list(NAMES),
    "server.enableCORS": True,
    "server.corsAllowedOrigins": [],
    "server.enableXsrfProtection": True,
    "server.xsrfCookieSameSite": "strict",
    "server.trustedUserHeaders": {},
    "server.unsafeMetricsUserAttributes": [],
    # Ways in that the pages don't need.
    "server.enableAgentApi": False,
    "server.enableStaticServing": False,
    "server.scriptHealthCheckEnabled": False,
    "server.baseUrlPath": "",
    "server.customComponentBaseUrlPath": "",
    "server.fileWatcherType": "none",
    "server.folderWatchList": [],
    "server.runOnSave": False,
    "server.allowRunOnSave": False,
    "server.headless": True,
    "client.allowedOrigins": [],
    "client.toolbarMode": "minimal",
    "browser.serverAddress": ADDRESS,
    "browser.gatherUsageStats": False,
    "global.developmentMode": False,
    "secrets.files": [],
    # Otherwise the texts that say what a constant is for would be drawn.
    "runner.magicEnabled": False,
    "logger.level": "error",
    "theme.metricValueFontSize": "1.6rem",
    "theme.paddingTop": "2rem",
    # From h1 on: the title of a page, and of a chart.
    "theme.headingFontSizes": ["2.25rem", "1.35rem", "1.15rem", "1rem", "1rem", "1rem"],
    # Captions have six tenths of the text's opacity, and white stands on the primary colour: with Streamlit's own
    # colours neither has the contrast that WCAG asks for.
    "theme.light.primaryColor": "#1a5fd0",
    "theme.light.textColor": "#141311",
    "theme.light.codeTextColor": "#141311",
    "theme.dark.primaryColor": "#1f6feb",
    "theme.dark.codeTextColor": "#edebe8",
    "theme.baseRadius": "small",
    "theme.showWidgetBorder": True,
}


def impose(port: int) -> None:
    """Set all options of this process for good; raises TalkhouseError where Streamlit has taken one from elsewhere."""
    for name in [name for name in os.environ if name.startswith(_VARIABLES)]:
        del os.environ[name]
    from streamlit import config

    options = {**_OPTIONS, "server.port": port, "browser.serverPort": port}
    # Every file of options or secrets is looked for by this function alone; the check below finds out if that changes.
    vars(config)["get_config_files"] = _no_files
    config.get_config_options(force_reparse=True, options_from_flags=options)
    _check(options)


def _no_files(_name: str) -> list[str]:
    return []


def _check(options: Mapping[str, Any]) -> None:
    from streamlit import config
    from streamlit.config_option import ConfigOption

    found = config.get_config_options()
    others = [key for key, wanted in options.items() if key not in found or found[key].value != wanted]
    others += [
        key
        for key, option in found.items()
        if key not in options and option.where_defined != ConfigOption.DEFAULT_DEFINITION
    ]
    if others:
        raise TalkhouseError(
            "the pages are not served: this version of Streamlit does not keep to the options that guard them",
            found=", ".join(sorted(others)),
            next_step="install the version of Streamlit that Talkhouse was tried with: uv sync",
        )
