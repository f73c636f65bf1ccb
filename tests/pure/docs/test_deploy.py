"""The files of deploy/: each service with a health check and without root, settings that exist, and no secret."""

import re
from pathlib import Path

import pytest
import yaml

from engrain.config.tree import ENV_DELIMITER, ENV_PREFIX, fields

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
VARIABLES = {f"{ENV_PREFIX}{name.upper().replace('.', ENV_DELIMITER)}" for name in fields()}
SERVICES = {
    f"{path.name}: {name}": service
    for path in sorted(DEPLOY.glob("compose*.yaml"))
    for name, service in yaml.safe_load(path.read_text(encoding="utf-8"))["services"].items()
    if "image" in service
}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_checked_starts_again_and_has_no_rights_of_root(name):
    service = SERVICES[name]
    is_own = "build" in service  # whose user and check are in the Dockerfile
    assert is_own or ("healthcheck" in service and service["user"] != "root")
    assert service["restart"] == "unless-stopped"
    assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    assert is_own or re.fullmatch(r"[\w/.-]+:[\w.-]+", service["image"]), "an image has a version and no host"


def test_the_image_is_checked_and_does_not_run_as_root():
    last_stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    assert re.search(r"^USER [1-9]\d+$", last_stage, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK ", last_stage, re.MULTILINE)


def test_passwords_come_from_the_environment_alone():
    values = {
        variable: value for service in SERVICES.values() for variable, value in service.get("environment", {}).items()
    }
    secrets = {variable: value for variable, value in values.items() if re.search("PASSWORD|KEY|SECRET", variable)}
    assert secrets
    assert all(re.fullmatch(r"\$\{\w+:\?.+\}", value) for value in secrets.values())
    assert not any(re.search(r"://[^/@]*:[^/@]*@", value) for value in values.values())


def test_the_settings_that_are_named_exist():
    text = "\n".join(path.read_text(encoding="utf-8") for path in DEPLOY.rglob("*") if path.is_file())
    assert set(re.findall(r"\bENGRAIN_[A-Z_]+\b", text)) - VARIABLES == {"ENGRAIN_PASSWORD", "ENGRAIN_BACKUP_KEY"}


def test_only_the_port_of_the_server_is_published_and_only_on_loopback():
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:8765:8765"]
