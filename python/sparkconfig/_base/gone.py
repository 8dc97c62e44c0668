"""Names of 0.1.0 that went: what to write in their place, for the error that refuses them."""

__all__ = ["GONE"]

_KEYS = "there are no passphrases any more: seal the values again with a key, and name it in "
_SPARK = "docs/scrub.md, 'Many logs, object stores and HDFS', has a job of 30 lines that does it with the same engine"
_FORMAT = "write the file as JSON, YAML or Java properties"
_KEYSTORE = (
    "give the driver the keystores' password as the variable HADOOP_CREDSTORE_PASSWORD, or in the file that"
    " hadoop.security.credstore.java-keystore-provider.password-file names"
)

GONE = {
    "--passphrase-env": _KEYS + "--key-file or --key-env",
    "--new-passphrase-env": _KEYS + "--new-key-file or --new-key-env",
    "sealed.passphrase.env": _KEYS + "key.file or key.env",
    "--store-conf": "migrate seals; write the values into the store with its own tool, and change the provider's lines",
    "--spark": _SPARK,
    "--spark-conf": _SPARK,
    "command completion": "'shtab --shell=bash sparkconfig.cli.main.parser' prints it; pip install shtab",
    "command connections": "'resolve --dry-run' asks for what connections refer to; add --operator-file",
    "spark.config.executor.env": "variables show in /proc; read the value where it is used, by sparkconfig.current",
    "spark.config.job.type.map": "set spark.config.job.type in an operator's file for each kind of driver",
    "provider keyring": "use the provider 'exec' with the param command 'keyring get {path} {key}'",
    "hadoop.password": _KEYSTORE,
    "hadoop.password.file": _KEYSTORE,
    "file.format=env": _FORMAT,
    "file.format=toml": _FORMAT,
}
