import Accounts
import AppProto
package import AppSupport
import Basics
package import Capability
import Crypto
package import Database
import Members
package import Protobuf

/// The app for sign-ins of phone apps' users: with Apple, and for development with an address.
package struct SignInApp: App {
    package static let name = "sign_in"

    package static var migrations: [Migration] { MemberRecords.migrations + SignInMigrations.all }

    package static var api: AppAPI {
        AppAPI(
            files: [.appsSignInProto],
            routes: SignInServiceMethods.routes + ProfileServiceMethods.routes + KnowledgeBaseServiceMethods.routes,
            access: AccessTable(
                [
                    (
                        .anyone,
                        [
                            SignInServiceMethods.devLogin, SignInServiceMethods.createNonce,
                            SignInServiceMethods.signInWithApple, SignInServiceMethods.notifyByApple,
                            SignInServiceMethods.refreshSession,
                        ]
                    ),
                    (
                        .user(.member),
                        [SignInServiceMethods.endSession]
                            + ProfileServiceMethods.all.filter { $0 != ProfileServiceMethods.setStatus }
                    ),
                    (.user(.admin), [ProfileServiceMethods.setStatus]),
                    (.user(.member), KnowledgeBaseServiceMethods.all),
                ], messages: SignInMessages(signedOut: "请先登录", expired: "登录已过期,请重新登录")),
            comments: AppProtoFiles.comments)
    }

    package static var issuesAccessTokens: Bool { true }

    let configuration: SignInConfiguration

    package init(_ settings: AppSettings) {
        configuration = SignInConfiguration(settings)
    }

    package func adapt(_ style: inout RESTStyle) {
        if configuration.hasEnvelope { style.errors = .envelope }
    }

    package func open(_ environment: AppEnvironment) async throws -> any Capability {
        try await RunningSignIn(environment, configuration)
    }
}
