"""The provider, for as long as the tests of this folder; and a store for each."""

from tests.openid.running import openid as openid
from tests.stores.shared import url as url
