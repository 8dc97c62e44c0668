"""What the shell and well-known programs are given secrets with, where no ``name=value`` says so.

Expressions of linear time, with the value as ``bare`` or in quotes. They look into lists of arguments, too.
"""

from __future__ import annotations

__all__ = ["HINTS", "KEY", "NAME", "OPTION", "PROGRAMS", "QUOTED"]

HINTS = "pass|pwd|pw|secret|token|key|cred|sas|auth|sig|cookie|connectionString"
NAME = rf"(?=[\w.-]{{0,200}}(?i:{HINTS}))"
KEY = rf"(?<![\w.$]){NAME}(?P<key>[A-Za-z_][\w.-]{{0,200}})"
QUOTED = (
    r"(?:\\\"(?P<escaped>[^\"\\\n]{1,4000})\\\""
    r"|(?:\b[A-Za-z]{1,2})?\"(?:\"\")?(?![),;])(?P<double>(?:[^\"\\\n]|\\[^\n]){1,4000})\""
    r"|(?:\b[A-Za-z]{1,2})?\$?'(?![),;])(?P<single>(?:[^'\\\n]|\\[^\n]){1,4000})')"
)
OPTION = rf"(?<![\w-])--?{NAME}(?P<key>[A-Za-z][\w.-]{{1,200}})"
_NAME_IN = rf"{NAME}(?P<key>[A-Za-z](?:[\w-]|\\?\.(?=\w)){{0,200}}[A-Za-z])"
_READ = rf"\b(?:read|mapfile|readarray)\b[^\n;|&<]{{0,200}}?[ \t]{KEY}"
_VALUE = r"(?P<bare>[^\s\"'`;|&()<>,$\\]{1,400})"
_WITHIN = r"\b(?:[^\n|;&]|\\\n){0,400}?[\s\"']"
_BETWEEN = r"(?:[\s=]|\\?[\"'],?\s*\\?[\"'])"
_TO_LINE_END = r"[^\n;|&<]{0,400}?"
_ECHO = r"\b(?:echo|printf)(?: -\w+| [\"']?%[sb]\S{0,4})*[ \t]+"
_GIVEN = rf"(?:{_ECHO}|<<<[ \t]*)"
_READS = rf"(?:<<<[ \t]*|<[ \t]*<\({_ECHO}|<<-?[ \t]*[\"']?\w+[\"']?[ \t]*\n\s*)"
_TO_A_FILE = r"[^\"'\n]{0,400}[\"'][ \t]*(?:>|\|[ \t]*tee)"
_COMMAND = r"(?:(?m:^)|[\"';&|(])[ \t]*(?:[\w./-]{1,40}[ \t]+){0,3}"
_ALONE = rf"(?![-=\[])[\"']?{_VALUE}[\"']?[ \t]*(?:(?m:$)|[;&|)\\\"'])"
_AGAIN = r"[ \t]*(?:(?P=key)[ \t]*[ \t:=][ \t]*)?"
#: Lists of arguments, and programs with options that name no secret. (``mysql -p x`` asks, and x is the database.)
PROGRAMS = [
    rf"{OPTION}[\"'],\s*(?![\"']-){QUOTED}",
    r"\bAuthorization\\?[\"']?\]?[ \t]*[:=,][ \t]*\\?[\"']?(?i:bearer|basic|token|apikey)[ \t]+" + _VALUE,
    rf"\bcurl{_WITHIN}(?:-\w*[uU]|--(?:proxy-)?user){_BETWEEN}?[\"']?[^\s:\"'$]{{1,200}}:{_VALUE}",
    rf"\b(?:mysql\w*|mariadb\w*|7za?|sshpass)\b{_WITHIN}-p(?!ort|rot)[\"']?{_VALUE}",
    rf"\b(?:sshpass|mongo\w*|beeline|(?:docker|podman|helm|buildah|oc|az|cf) login){_WITHIN}-p{_BETWEEN}[\"']?{_VALUE}",
    rf"\b(?:zip|unzip|sqlcmd|bcp|isql|tsql){_WITHIN}-P{_BETWEEN}?[\"']?{_VALUE}",
    rf"\bredis-cli{_WITHIN}-a{_BETWEEN}[\"']?{_VALUE}",
    rf"\bldap(?:search|modify|add|delete|passwd|whoami){_WITHIN}-w{_BETWEEN}[\"']?{_VALUE}",
    rf"\bsmbclient{_WITHIN}-U{_BETWEEN}?[\"']?[^\s%]{{1,200}}%{_VALUE}",
    rf"\blftp{_WITHIN}-u{_BETWEEN}?[\"']?[^\s,]{{1,200}},{_VALUE}",
    r"\b(?:sqlplus|sqlldr|expdp|impdp)[ \t]+(?:-\S+[ \t]+)*[\"']?\w{1,100}/(?P<bare>[^\s@\"'$]{1,400})",
    rf"\bpass(?:in|out|word)?{_BETWEEN}pass:{_VALUE}",
    rf"\bmc (?:alias set|config host add) \S+ \S+ \S+ [\"']?{_VALUE}",
    rf"\b(?:vault login|mysqladmin{_WITHIN}password|requirepass[\"']?,?)[ \t]+[\"']?(?!-){_VALUE}",
    rf"\blogin[ \t]+\S{{1,200}}\s+password[ \t]+{_VALUE}",
    rf"{_ECHO}[\"']?{_VALUE}(?:\\n)?[\"']?[ \t]*\|[ \t]*(?:[^\n]{{0,200}}-stdin|[^\n]{{0,200}}-file=-|kinit\b|sudo -S)",
    # SQL: DECLARE password STRING DEFAULT '…', SELECT '…' AS password, INSERT whose last column it is, SET `…` = `…`,
    # and the keys of Spark's functions
    rf"{KEY}\s+(?i:CONSTANT\s+)?\w{{1,40}}(?:\([\d, ]{{1,20}}\))?(?i:\s+NOT\s+NULL)?\s*(?i:DEFAULT|:=)\s*{QUOTED}",
    rf"{QUOTED}\s+(?i:AS)\s+{KEY}",
    rf"\([^()]{{0,400}}?{KEY}\s*\)\s*(?i:VALUES)\s*\((?:[^()]{{0,400}},)?\s*{QUOTED}\s*\)",
    rf"(?i:\bSET)\s+`{KEY}`\s*=\s*`(?P<bare>[^`\n]{{1,400}})`",
    r"(?i:\b(?:try_)?aes_(?:en|de)crypt)\s*\([^,']{1,400},\s*" + QUOTED,
    # PowerShell
    rf"(?i:\bConvertTo-SecureString)(?:[ \t]+-\w+)*[ \t]+(?:@[\"']\n|[\"'])?(?!-){_VALUE}",
    rf"{QUOTED}[ \t]*\|[ \t]*(?i:ConvertTo-SecureString)",
    # echo value > password.txt, echo "password value" > file, PASSWORD=$(echo value), read PASSWORD < <(echo value)
    rf"{_ECHO}[\"']?{_VALUE}[\"']?[ \t]*>>?[ \t]*[\"']?(?:[^\s\"']{{0,200}}/)?(?P<key>[.A-Za-z_]\w{{0,100}})",
    rf"{_GIVEN}[\"'](?:[^\"'\n]{{0,400}}\\n)?[ \t]*{KEY}(?:[ \t]*[:=][ \t]*|[ \t]+(?={_TO_A_FILE})){_VALUE}",
    rf"{KEY}=[\"']?(?:\$\(|`){_TO_LINE_END}{_GIVEN}[\"']?{_VALUE}",
    rf"{_ECHO}[\"']?{_VALUE}[\"']?[ \t]*\|[ \t]*{_READ}",
    rf"{_READ}{_TO_LINE_END}{_READS}[\"']?(?P<bare>[^\n\"'|;&)]{{1,400}})",
    rf"\bprintf[ \t]+[\"'][^\"'\n]{{0,200}}?{KEY}[ \t]*[ \t=:][ \t]*%[sb][^\"'\n]{{0,200}}[\"'][ \t]+[\"']?{_VALUE}",
    rf"\bprintf[ \t]+-v[ \t]+{KEY}(?:[ \t]+[\"']?%[sb](?:\\n)?[\"']?)?[ \t]+[\"']?{_VALUE}",
    rf"\b(?:kinit\b|[^\n]{{0,200}}-(?:stdin|token))[^\n<]{{0,200}}<<<[ \t]*[\"']?{_VALUE}",
    rf"{_GIVEN}[\"']?[^\s:\"'$]{{1,200}}:{_VALUE}[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd",
    rf"\bchpasswd{_TO_LINE_END}<<<[ \t]*[\"']?[^\s:\"'$]{{1,200}}:{_VALUE}",
    rf"\bhtpasswd[ \t]+-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+[\"']?{_VALUE}",
    rf"\b(?:ssh-keygen{_WITHIN}-N|openssl{_WITHIN}-k(?![a-z])){_BETWEEN}?[\"']?{_VALUE}",
    # git config x.password value, setenv PASSWORD value
    rf"{_COMMAND}(?:--)?(?:set|set_?env|config|put)\b[^\n;|&<,\"']{{0,200}}?[ \t][\"']?{KEY}[\"']?[ \t]+{_ALONE}",
    rf"\b(?:secrets?|parameter|keyvault|secretsmanager)\b{_WITHIN}--(?:\w+-)?(?:value|string){_BETWEEN}[\"']?{_VALUE}",
    # [ "$PASSWORD" = value ], case $PASSWORD in value)
    rf"(?:\[|\btest\b|\bcase\b)[^\n;]{{0,200}}?\$\{{?{_NAME_IN}\}}?[\"']?[ \t]+(?:==?|!=|=~|in)\s+[\"']?{_VALUE}",
    # sed 's/password .*/password value/', 's/@PASSWORD@/value/'
    *(
        rf"\bs{sign}[^{sign}\n]{{0,200}}?{_NAME_IN}[^{sign}\n]{{0,200}}{sign}{_AGAIN}(?P<bare>(?!(?P=key)\W*{sign})[^{sign}\n\\&$]{{1,400}}){sign}"
        for sign in ("/", "\\|", "#", ",", "@", "~")
    ),
    rf"\bsed\b[^\n|;&]{{0,400}}/{_NAME_IN}[^/\n]{{0,200}}/[ \t]*[cai]\\?{_AGAIN}(?P<bare>[^\n\"'\\]{{1,400}})",
    rf"\$[ \t]*a\\?[ \t]+{KEY}[ \t]*[ \t:=][ \t]*{_VALUE}",
]
