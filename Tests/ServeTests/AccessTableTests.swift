import Capability
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Serve

@Suite(.timeLimited) struct AccessTableTests {
    static let services: [[MethodDescriptor]] = [
        AuthServiceMethods.all, SystemAuthServiceMethods.all, AdminAuthServiceMethods.all, UserAuthServiceMethods.all,
        SessionServiceMethods.all, AccountServiceMethods.all, ApiTokenServiceMethods.all,
        IdentityManagementServiceMethods.all, AuditServiceMethods.all, InvitationServiceMethods.all,
        InvitationManagementServiceMethods.all,
        DataGatewayServiceMethods.all, DataGatewayObjectServiceMethods.all,
        DataGatewayCopyServiceMethods.all, DeviceInitServiceMethods.all, InternalStorageServiceMethods.all,
        DeviceManagementServiceMethods.all, ObjectManagementServiceMethods.all, UploadManagementServiceMethods.all,
        IdentityServiceMethods.all, BackupServiceMethods.all, RestoreServiceMethods.all, ClockServiceMethods.all,
        EventServiceMethods.all,
        ObjectArchiveServiceMethods.all, CopyManagementServiceMethods.all, SystemServiceMethods.all,
        HealthMethods.all,
        ServerReflectionMethods.all, V1AlphaServerReflectionMethods.all,
    ]

    @Test func everyMethodOfEveryServiceIsInTheTable() {
        for method in Self.services.joined() {
            #expect(GatewayModules.access.access(to: method.path) != nil, "\(method.path)")
        }
    }

    @Test func onlyWhatTheContractOpensIsOpenToAnyone() {
        let open = Set(
            Self.services.joined().filter { GatewayModules.access.access(to: $0.path) == .anyone }.map(\.service))
        #expect(
            open == [
                "archebase.auth.v1.AuthService", "archebase.auth.v1.IdentityService",
                "archebase.auth.v1.SystemAuthService", "archebase.auth.v1.InvitationService",
                "archebase.session.v1.SessionService", "archebase.data_gateway.v1.DeviceInitService",
                "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection",
            ])
    }

    @Test func methodMissingFromTheTableIsRefused() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let token = try await world.login().accessToken
        let unknown = MethodDescriptor(service: "archebase.auth.v1.AdminAuthService", name: "Surprise", kind: .unary)
        let error = await refusal { _ = try world.call(unknown, token: token) }
        #expect(error?.status == .permissionDenied)
    }

    @Test func modulesAddTheirMethodsAndChangeNoOthers() {
        let guests = MethodDescriptor(service: "guests.v1.GuestService", name: "Enter", kind: .unary)
        let table = GatewayModules.access.adding(AccessTable([(.user(.member), [guests])]))
        #expect(table.access(to: guests.path) == .user(.member))
        #expect(GatewayModules.access.access(to: guests.path) == nil)
        for method in Self.services.joined() {
            #expect(table.access(to: method.path) == GatewayModules.access.access(to: method.path), "\(method.path)")
        }
    }

    @Test func noMethodOfTheGatewayIsForMembers() {
        for method in Self.services.joined() {
            #expect(GatewayModules.access.access(to: method.path) != .user(.member), "\(method.path)")
        }
        #expect(Role.allCases.min() == .member)
    }
}
