"""Token endpoints of Google and of Microsoft Entra ID, written by us from RFC 6749, RFC 7523 and public documentation.

No server of others runs here: neither company gives one away.
"""

import base64
import json
import time
from pathlib import Path
from urllib.parse import parse_qs

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from google.auth import jwt

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response
from support.fakes.secret_manager import service_account_file


def _form(request):
    return {name: values[0] for name, values in parse_qs(request.body.decode()).items()}


class TokenEndpoint(FakeHttpServer):
    """Makes tokens for whoever it knows.

    Attributes:
        token: the token of the moment; None: each is new.
        life: what it says of a token's life, in seconds.
        refusal: OAuth's code with which it refuses everybody, or None.
    """

    def __init__(self, tls=None):
        super().__init__(tls)
        self.token = None
        self.made = 0
        self.life = 3600
        self.refusal = None

    def refused(self, code, status=400):
        return Response.of({"error": code, "error_description": BODY_MARK}, status)

    def granted(self, scope):
        self.made += 1
        token = self.token or f"token-{self.made:04}-{scope.rpartition('/')[2]}"
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": self.life}
        return Response.of({name: value for name, value in answer.items() if value is not None})


class GoogleTokens(TokenEndpoint):
    """Checks the signature and the times of a service account's assertion, as Google does.

    Attributes:
        tolerance: seconds that a clock may be ahead of its own.
    """

    tolerance = 60

    def __init__(self, folder, tls=None):
        super().__init__(tls)
        self._folder = folder
        self.account = json.loads(self._new_account(self.url))

    def _new_account(self, url):
        file = Path(service_account_file(self._folder, "shop-project"))
        return json.dumps({**json.loads(file.read_text()), "token_uri": f"{url}/token"})

    def credentials(self, url=None):
        """The file of the account that it knows; ``url``: where its tokens are asked for instead of here."""
        return json.dumps({**self.account, "token_uri": f"{url or self.url}/token"})

    def stranger(self):
        """The file of an account that it does not know."""
        return self._new_account(self.url)

    def answer(self, request):
        form = _form(request)
        if self.refusal:
            return self.refused(self.refusal)
        if form.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer":
            return self.refused("unsupported_grant_type")
        claims = self._claims(form["assertion"])
        now = time.time() + self.clock
        if claims is None or claims["exp"] < now or claims["iat"] > now + self.tolerance:
            return self.refused("invalid_grant")
        if "no-such" in claims["scope"]:
            return self.refused("invalid_scope")
        return self.granted(claims["scope"])

    def _claims(self, assertion):
        """What an assertion claims, or None if the account did not sign it."""
        key = serialization.load_pem_private_key(self.account["private_key"].encode(), None).public_key()
        head, _, signature = assertion.rpartition(".")
        raw = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
        try:
            key.verify(raw, head.encode(), padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return None
        return jwt.decode(assertion, verify=False)


class EntraTokens(TokenEndpoint):
    """The endpoint of one tenant, which knows one service principal."""

    TENANT, CLIENT, SECRET = "tenant-1", "client-1", "client-secret-0001"

    def params(self, tls, url=None):
        return {
            "tenant.id": self.TENANT, "client.id": self.CLIENT, "client.secret": self.SECRET,
            "authority.host": url or self.url, "ca.file": tls.ca,
        }  # fmt: skip

    def fault_for(self, request):
        return super().fault_for(request) if request.path.endswith("/token") else None

    def answer(self, request):
        if request.path.endswith("openid-configuration"):
            host = f"https://{request.headers['host']}/{self.TENANT}"
            return Response.of(
                {
                    "authorization_endpoint": f"{host}/oauth2/v2.0/authorize",
                    "token_endpoint": f"{host}/oauth2/v2.0/token",
                    "issuer": f"{host}/v2.0",
                }
            )
        form = _form(request)
        if self.refusal:
            return self.refused(self.refusal, 401)
        if (form.get("client_id"), form.get("client_secret")) != (self.CLIENT, self.SECRET):
            return self.refused("invalid_client", 401)
        if "no-such" in form["scope"]:
            return self.refused("invalid_scope")
        return self.granted(form["scope"].removesuffix("/.default"))
