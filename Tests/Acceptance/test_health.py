"""grpc.health.v1 and the readiness probes of deployed clients."""

import grpc
import pytest
from support.gateway import LISTENERS
from support.parties import call, exchange
from support.raw import fetch
from support.refusal import refused
from support.waiting import WAIT_SECONDS

GRPC_LISTENERS = [name for name in LISTENERS if name not in ("object-store", "web", "ops")]

#: The services of each listener, with their names in health checks.
SERVICES = {
    "auth": ["archebase.auth.v1.AuthService"],
    "gateway": ["archebase.data_gateway.v1.DataGatewayService", "archebase.data_gateway.v1.DataGatewayObjectService"],
    "admin": ["archebase.auth.v1.AdminAuthService", "archebase.meta.v1.DeviceManagementService"],
    "device-init": ["archebase.data_gateway.v1.DeviceInitService"],
}


@pytest.mark.parametrize("listener", GRPC_LISTENERS)
def test_every_grpc_listener_serves_health(gateway, stubs, listener):
    health = stubs.health.HealthStub(gateway.channel(listener))
    reply = call(health.Check, stubs.health.HealthCheckRequest())
    assert reply.status == stubs.health.HealthCheckResponse.SERVING


@pytest.mark.parametrize("listener, service", [(name, service) for name in SERVICES for service in SERVICES[name]])
def test_health_knows_the_services_by_name(gateway, stubs, listener, service):
    health = stubs.health.HealthStub(gateway.channel(listener))
    reply = call(health.Check, stubs.health.HealthCheckRequest(service=service))
    assert reply.status == stubs.health.HealthCheckResponse.SERVING


def test_health_says_not_found_for_an_unknown_service(gateway, stubs):
    health = stubs.health.HealthStub(gateway.channel("auth"))
    with refused(stubs, "NOT_FOUND"):
        call(health.Check, stubs.health.HealthCheckRequest(service="no.such.Service"))


@pytest.mark.parametrize("listener", GRPC_LISTENERS)
def test_health_lists_and_is_watched(gateway, stubs, listener):
    health = stubs.health.HealthStub(gateway.channel(listener))
    statuses = call(health.List, stubs.health.HealthListRequest()).statuses
    assert set(SERVICES[listener]) < set(statuses)
    watch = health.Watch(stubs.health.HealthCheckRequest(), timeout=WAIT_SECONDS)
    assert next(watch).status == stubs.health.HealthCheckResponse.SERVING
    watch.cancel()


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_compressed_request_is_inflated(gateway, stubs, compression):
    with grpc.insecure_channel(gateway.listeners["auth"], compression=compression) as channel:
        stub = stubs.auth.AuthServiceStub(channel)
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            call(stub.ExchangeCredential, stubs.auth.ExchangeCredentialRequest(credential="x" * 10_000))


def test_an_unknown_method_is_unimplemented(gateway, stubs):
    method = gateway.channel("auth").unary_unary("/archebase.auth.v1.AuthService/Nonsense")
    with refused(stubs, "UNIMPLEMENTED"):
        method(b"", timeout=WAIT_SECONDS)


def test_a_service_answers_at_its_own_listener_only(gateway, stubs):
    stub = stubs.auth.AuthServiceStub(gateway.channel("device-init"))
    with refused(stubs, "UNIMPLEMENTED"):
        call(stub.ExchangeCredential, stubs.auth.ExchangeCredentialRequest(credential="x"))


def test_probe_with_a_nonsense_credential_is_refused(gateway, stubs):
    """Clients consider the gateway ready if this is UNAUTHENTICATED; it is never rate-limited, however often they call."""
    for _ in range(200):
        with refused(stubs, "UNAUTHENTICATED", "AUTH_INVALID_CREDENTIAL"):
            exchange(gateway, stubs, "readiness-probe")


def test_probe_without_authorization_is_refused(gateway, stubs):
    stub = stubs.gateway.DataGatewayServiceStub(gateway.channel("gateway"))
    for _ in range(200):
        with refused(stubs, "UNAUTHENTICATED", "DATA_GATEWAY_UNAUTHENTICATED"):
            call(stub.GetUploadRecovery, stubs.gateway.GetUploadRecoveryRequest(logical_upload_id="readiness-probe"))


def test_the_object_store_refuses_a_stranger_in_its_own_words(gateway):
    response = fetch(gateway.object_store, "GET", "/data/uploads/x")
    assert response.error() == (403, "AccessDenied")
    assert response.headers["x-oss-request-id"] == response.text("RequestId")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/readyz/object-store"])
def test_ops_listener_reports_that_it_is_healthy(gateway, path):
    assert fetch(gateway.listeners["ops"], "GET", path).status == 200
