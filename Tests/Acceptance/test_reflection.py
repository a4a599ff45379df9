"""grpc.reflection.v1 and v1alpha with grpcio-reflection."""

import grpc
import pytest
from google.protobuf import descriptor_pool
from grpc_reflection.v1alpha import reflection_pb2 as v1alpha
from grpc_reflection.v1alpha import reflection_pb2_grpc as v1alpha_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase


@pytest.mark.parametrize(
    "listener, service",
    [
        ("auth", "archebase.auth.v1.AuthService"),
        ("gateway", "archebase.data_gateway.v1.DataGatewayService"),
        ("admin", "archebase.meta.v1.DeviceManagementService"),
        ("device-init", "archebase.data_gateway.v1.DeviceInitService"),
    ],
)
def test_a_listener_lists_what_it_serves(gateway, listener, service):
    database = ProtoReflectionDescriptorDatabase(gateway.channel(listener))
    services = set(database.get_services())
    assert service in services
    assert {"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"} <= services
    # Services of other listeners are not included.
    assert ("archebase.auth.v1.AuthService" in services) == (listener == "auth")


def test_a_method_can_be_called_by_its_description_alone(gateway):
    channel = gateway.channel("auth")
    pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    method = pool.FindServiceByName("grpc.health.v1.Health").FindMethodByName("Check")
    assert (method.input_type.full_name, method.output_type.full_name) == (
        "grpc.health.v1.HealthCheckRequest",
        "grpc.health.v1.HealthCheckResponse",
    )
    device = pool.FindMessageTypeByName("archebase.meta.v1.Device")
    # Its imports are included.
    assert device.fields_by_name["created_at"].message_type.full_name == "google.protobuf.Timestamp"


def test_both_versions_answer_the_same(gateway):
    request = v1alpha.ServerReflectionRequest(file_containing_symbol="archebase.auth.v1.AuthService.Login")
    channel = gateway.channel("auth")
    old = next(v1alpha_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([request]), timeout=20))
    call = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=v1alpha.ServerReflectionRequest.SerializeToString,
        response_deserializer=v1alpha.ServerReflectionResponse.FromString,
    )
    assert next(call(iter([request]), timeout=20)) == old
    assert len(old.file_descriptor_response.file_descriptor_proto) >= 2


@pytest.mark.parametrize(
    "request_, code",
    [
        (v1alpha.ServerReflectionRequest(file_by_filename="nothing.proto"), grpc.StatusCode.NOT_FOUND),
        (v1alpha.ServerReflectionRequest(file_containing_symbol="no.such.Thing"), grpc.StatusCode.NOT_FOUND),
        (v1alpha.ServerReflectionRequest(all_extension_numbers_of_type="no.such.Type"), grpc.StatusCode.NOT_FOUND),
        (v1alpha.ServerReflectionRequest(), grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
def test_unknown_symbol_is_answered_in_the_stream(gateway, request_, code):
    known = v1alpha.ServerReflectionRequest(list_services="")
    stub = v1alpha_grpc.ServerReflectionStub(gateway.channel("auth"))
    first, second = stub.ServerReflectionInfo(iter([request_, known]), timeout=20)
    assert first.error_response.error_code == code.value[0]
    # The stream continues.
    assert second.WhichOneof("message_response") == "list_services_response"
