"""What a name says of its value: one rule for confs, options and variables, for logs, and for what ``migrate`` reads.

Names are compounds, and the last noun says what the whole is: ``userPassword`` is a password, ``userPasswordAttribute``
an attribute.
"""

from __future__ import annotations

import re

from sparkconfig.settings.schema import PREFIX

__all__ = ["could_name_secret", "names_secret"]

_SECRET = re.compile(
    r"(secret|password|passwd|passphrase|token|(access|account|api|private|secret)[._-]?key|secret[._-]id|credential"
    r"|(?<!env\.)(?<!old)pwd|accesssignature)s?$|\b(sas|sig)$|^(spark\.)?redis\.auth$"
    r"|fs\.azure\.(account\.(key|access\.token|oauth2\.client\.secret)\.(?!provider|type)"
    r"|sas\.(?!token\.provider|service)[^.]+\.[^.]+\.)"
    r"|\bheader\.(proxy-)?(authorization|cookie)$|\beventhubs\.connectionString$|\.param\.credentials\.json$",
    re.IGNORECASE,
)
# password2, PASSWORD_PROD, dbpass, pw
_WHICH = re.compile(
    r"(?<=[A-Za-z])(?:_?\d{1,3}|[._-]?(?:here|placeholder|value|plain|prod|dev|test|stage|old|new))$",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"(?:^|[._-]|db)pw$|(?:^|[._-]|(?-i:[a-z](?=P))|db|pg|sql|user|root|admin|key|store|mail|smtp|http|ftp|ldap)pass$",
    re.IGNORECASE,
)
# Names of Kubernetes' secrets, and where they are mounted.
_NO_SECRET = re.compile(r"spark\.kubernetes\.(driver|executor)\.secret(s|KeyRef)\.|spark\.redaction\.")
_WITHIN = re.compile(
    r"pass(word|wd|phrase)|pwd|secret|token|credential|auth|\b(key|sig|sas)\b|signature"
    r"|(access|account|api|private|shared|encryption)[._ -]?key",
    re.IGNORECASE,
)
# What such a name goes on with if something about the secret, and not itself, is its value.
_OTHER_NOUN = re.compile(
    r"(?:name|[._ -]?id|type|ur[il]|class|providers?|files?|path|dir|folder|location|length|size|timeout|interval"
    r"|enabled?|disabled|renewal|version|count|expiry|expiration|alias|format|store|polic(?:y|ies)|scope|services?|renewer|manager"
    r"|factory|[._-]on|spec|bits?|algorithm|mechanism|period|validity|lifetime|duration|ratio|attempts|retries|age|ttl"
    r"|mode|protocol|encoding|separator|prefix|suffix|hosts?|port|attributes?|columns?|cols?|fields?|headers?|params?"
    r"|parameter|propert(?:y|ies)|pattern|regex|rules?|filter|label|hint|prompt|description|message|endpoint|address"
    r"|principal|owner|users?|username|index|limit|max|min|threads?|hash|digest|checksum|fingerprint|cipher|issuer"
    r"|audience|realm|strategy|handler|validator|generator|encoder|resolver|cache|required|optional|refresh"
    r"|(?:[._-]|interval|timeout|period|age|ttl)(?:ns|us|ms|millis|s|secs?|seconds|mins?|minutes|hours|days|bytes|kb|mb))$",
    re.IGNORECASE,
)


def names_secret(key: str) -> bool:
    """Whether what has this name is a secret as a whole."""
    bare = _WHICH.sub("", key.removeprefix(PREFIX))
    return _NO_SECRET.match(key) is None and any(each.search(bare) is not None for each in (_SECRET, _SHORT))


def could_name_secret(key: str) -> bool:
    """Whether the name has a secret's in it and goes on with no other noun: a value that looks random is one, then."""
    return names_secret(key) or (
        _WITHIN.search(key) is not None and _OTHER_NOUN.search(key) is None and _NO_SECRET.match(key) is None
    )
