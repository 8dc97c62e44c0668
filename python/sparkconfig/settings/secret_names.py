"""What a name says of its value: one rule for confs, options and variables, for logs, and for what ``migrate`` reads.

Names are compounds, and the last noun says what the whole is: ``userPassword`` is a password, ``userPasswordAttribute``
an attribute.
"""

from __future__ import annotations

import re

from sparkconfig._base.late import late
from sparkconfig.settings.schema import PREFIX

__all__ = ["could_name_secret", "is_switch", "names_secret"]

_SECRET = late(
    r"(secret|password|passwd|passphrase|token|(access|account|api|private|secret|fernet|signing)[._-]?key|secret[._-]id|credential"
    r"|(?<!env\.)(?<!old)pwd|accesssignature)s?$|\b(sas|sig)$|^(spark\.)?redis\.auth$"
    r"|fs\.azure\.(account\.(key|access\.token|oauth2\.client\.secret)\.(?!provider|type)"
    r"|sas\.(?!token\.provider|service)[^.]+\.[^.]+\.)"
    r"|\bheader\.(proxy-)?(authorization|cookie)$|\beventhubs\.connectionString$|\.param\.credentials\.json$",
    re.IGNORECASE,
)
# password2, PASSWORD_PROD, dbpass, pw
_WHICH = late(
    r"(?<=[A-Za-z])(?:_?\d{1,3}|[._-]?(?:here|placeholder|value|plain|prod|dev|test|stage|old|new))$",
    re.IGNORECASE,
)
_SHORT = late(
    r"(?:^|[._-]|db)pw$|(?:^|[._-]|(?-i:[a-z](?=P))|db|pg|sql|user|root|admin|key|store|mail|smtp|http|ftp|ldap)pass$",
    re.IGNORECASE,
)
# Names of Kubernetes' secrets, and where they are mounted.
_NO_SECRET = late(
    r"^spark\.kubernetes\.(driver|executor)\.secret(s|KeyRef)\.|^spark\.redaction\.|\boauth2\.client\.(id|endpoint)\b"
    # Of images: files with the secrets, and where Airflow finds a setting
    r"|SSL_(?:KEY|KEYSTORE|TRUSTSTORE)_CREDENTIALS$|^AIRFLOW__[A-Z_]+(?:_CONN|_KEY|_URL|_BACKEND|_PASSWORD)_SECRET$"
    # Of language models, of pages; a secret that has its name here
    r"|(?i:(?:prompt|completion|input|output|max(?:imum)?|total|num(?:ber)?|generated|cached)[._ -]?tokens$"
    r"|(?:pad(?:ding)?|unk(?:nown)?|bos|eos|bot|eot|sep|cls|mask|stop|start|end|begin|special|image|next|prev(?:ious)?"
    r"|page|continuation|sync|delimiter)[._ -]?tokens?$|(?:existing|pull|credentials)[._-]?secrets?$)"
)
_WITHIN = late(
    r"pass(word|wd|phrase)|pwd|secret|token|credential|auth|\b(key|sig|sas)\b|signature"
    r"|(access|account|api|private|shared|encryption)[._ -]?key",
    re.IGNORECASE,
)
# What such a name goes on with if something about the secret, and not itself, is its value.
_OTHER_NOUN = late(
    r"(?:name|[._ -]?id|(?<=token)i[sz](?:er|ation)"
    r"|type|ur[il]|class|providers?|files?|path|dir|folder|location|length|size|timeout|interval"
    r"|enabled?|disabled|renewal|version|count|expiry|expiration|alias|format|store|polic(?:y|ies)|scope|services?|renewer|manager"
    r"|factory|[._-]on|spec|bits?|algorithm|mechanism|period|validity|lifetime|duration|ratio|attempts|retries|age|ttl"
    r"|mode|protocol|encoding|separator|prefix|suffix|hosts?|port|attributes?|columns?|cols?|fields?|headers?|params?"
    r"|parameter|propert(?:y|ies)|pattern|regex|rules?|filter|label|hint|prompt|description|message|endpoint|address"
    r"|principal|owner|users?|username|index|limit|max|min|threads?|hash|digest|checksum|fingerprint|cipher|issuer"
    r"|audience|realm|strategy|handler|validator|generator|encoder|resolver|cache|required|optional|refresh"
    r"|(?:[._-]|interval|timeout|period|age|ttl)(?:ns|us|ms|millis|s|secs?|seconds|mins?|minutes|hours|days|bytes|kb|mb))$",
    re.IGNORECASE,
)
#: Also what a workflow of GitHub is allowed, as in "id-token: write", and one or two signs that are no letter or digit.
_SWITCH = late(
    r"|true|false|yes|no|on|off|0|1|none|null|nil|undefined|enabled|disabled|read|write|inherit|[^\w\s]{1,2}",
    re.IGNORECASE,
)
# 90d, 1h30m, P90D, PT1H30M, 512 MiB, 4k, 1000 tokens
_MEASURE = late(
    r"(?:\d+(?:\.\d+)? ?(?:[num]s|[smhdwyk]|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|[kmgt]i?b?|bytes|tokens|%))+"
    r"|P(?=[\dT])(?:\d+[YMWD])*(?:T(?:[\d.]+[HMS])+)?",
    re.IGNORECASE,
)


def is_switch(value: str) -> bool:
    """Whether a value is a switch, nothing, or a number with its unit: no secret, whatever its name."""
    text = value.strip()
    return _SWITCH.fullmatch(text) is not None or _MEASURE.fullmatch(text) is not None


def names_secret(key: str) -> bool:
    """Whether what has this name is a secret as a whole."""
    bare = _WHICH.sub("", key.removeprefix(PREFIX))
    return _NO_SECRET.search(key) is None and any(each.search(bare) is not None for each in (_SECRET, _SHORT))


def could_name_secret(key: str) -> bool:
    """Whether the name has a secret's in it and goes on with no other noun: a value that looks random is one, then."""
    return names_secret(key) or (
        _WITHIN.search(key) is not None and _OTHER_NOUN.search(key) is None and _NO_SECRET.search(key) is None
    )
