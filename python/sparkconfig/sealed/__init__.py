"""Sealed files: values encrypted with AES-256-GCM, names in clear and authenticated (docs/sealed-files.md).

Modules, lower ones first: ``failures`` (what can be wrong), ``names`` (what may be called what), ``document``
(the text form), ``crypto`` (keys to bytes), ``keys`` (where a key comes from), ``files`` (safe reads and
writes), ``opened`` (one authenticated state of a file), ``editor`` (changes).
"""
