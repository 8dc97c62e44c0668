"""The private PostgreSQL checks passwords: else no rotation would prove anything."""

from support.postgres import new_password


def test_only_the_newest_password_opens_the_database(postgres):
    old, new = new_password(), new_password()
    postgres.create(role="tenant", password=old, database="tenancy")
    assert postgres.accepts(role="tenant", password=old, database="tenancy")

    postgres.set_password("tenant", new)

    assert not postgres.accepts(role="tenant", password=old, database="tenancy")
    assert postgres.accepts(role="tenant", password=new, database="tenancy")


def test_everyone_over_tcp_needs_a_password(postgres):
    rules = postgres.sql("select distinct auth_method from pg_hba_file_rules where type like 'host%'")

    assert rules == "scram-sha-256"
    assert postgres.sql("show listen_addresses") == "127.0.0.1"
