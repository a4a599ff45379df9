package import Basics
package import Capability
import GatewayAPI
package import RPC

/// The authenticated caller, with its state in the database at the time of the call.
package enum Principal: Sendable, Hashable {
    case device(DevicePrincipal)
    case site(SitePrincipal)
    case user(UserPrincipal)
    /// A program with a client certificate.
    case certificate(subject: String)
}

extension Principal {
    /// The name in the audit log and in the server's log: `device:261121-000001`, `site:7`, `user:system/admin`,
    /// `user:system/admin#ID` by an API token.
    package var name: String {
        let parts = nameParts
        return "\(parts.kind):\(parts.scope.map { "\($0)/" } ?? "")\(parts.name)"
    }

    /// The parts of ``name``. The log writes them into each call's line without making a string.
    private var nameParts: (kind: String, scope: String?, name: String) {
        switch self {
        case .device(let device): ("device", nil, device.deviceID)
        case .site(let site): ("site", nil, "\(site.siteID)")
        case .user(let user): ("user", user.home.name, user.apiTokenID.map { "\(user.name)#\($0)" } ?? user.name)
        case .certificate(let subject): ("certificate", nil, String(subject.prefix(256)))
        }
    }

    package var siteID: Int64? {
        switch self {
        case .device(let device): device.siteID
        case .site(let site): site.siteID
        case .user, .certificate: nil
        }
    }

    /// The organization that the call concerns; `nil` = any.
    package var organizationID: Int64? {
        switch self {
        case .device(let device): device.organizationID
        case .site(let site): site.organizationID
        case .user(let user): user.organization.id
        case .certificate: nil
        }
    }
}

extension Principal: CallerIdentity {
    package func describe(in line: inout LogLine) {
        line.add("principal") { line in
            let parts = nameParts
            line.append(parts.kind)
            line.append(":")
            if let scope = parts.scope {
                line.append(scope)
                line.append("/")
            }
            line.append(parts.name)
        }
        line.add("organization_id", organizationID)
        line.add("site_id", siteID)
    }
}

extension Principal {
    /// The owner for whom the gateway works on the principal's calls.
    var workOwner: WorkOwner {
        switch self {
        case .device(let device): .apiKey(device.key.id, of: device.organizationID)
        case .site(let site): .apiKey(site.key.id, of: site.organizationID)
        case .user(let user): .user(user.userID, of: user.home.id)
        case .certificate(let subject): .program(subject)
        }
    }
}

/// An API key with the epoch at which something was issued for it; the reference is invalid once the key's epoch differs.
package struct APIKeyReference: Sendable, Hashable {
    package let id: String
    /// Increased whenever everything issued for the key must become invalid: on disabling, holding and rotation.
    package let epoch: Int64

    package init(id: String, epoch: Int64) {
        self.id = id
        self.epoch = epoch
    }
}

/// A device, authenticated by its own key.
package struct DevicePrincipal: Sendable, Hashable {
    package let deviceID: String
    package let suiteID: Int64
    package let siteID: Int64
    package let organizationID: Int64
    package let key: APIKeyReference

    package init(deviceID: String, suiteID: Int64, siteID: Int64, organizationID: Int64, key: APIKeyReference) {
        self.deviceID = deviceID
        self.suiteID = suiteID
        self.siteID = siteID
        self.organizationID = organizationID
        self.key = key
    }
}

/// A site, authenticated by one of its keys.
package struct SitePrincipal: Sendable, Hashable {
    package let siteID: Int64
    package let organizationID: Int64
    package let key: APIKeyReference

    package init(siteID: Int64, organizationID: Int64, key: APIKeyReference) {
        self.siteID = siteID
        self.organizationID = organizationID
        self.key = key
    }
}

/// An organization's id and name.
package struct OrganizationReference: Sendable, Hashable {
    package let id: Int64
    package let name: String

    package init(id: Int64, name: String) {
        self.id = id
        self.name = name
    }

    /// A reference without the name, which the audit log adds to its line.
    package static func unnamed(_ id: Int64) -> OrganizationReference { OrganizationReference(id: id, name: "") }
}

/// A user, authenticated by their login.
package struct UserPrincipal: Sendable, Hashable {
    package let userID: Int64
    package let name: String
    package let role: Role
    package let epoch: Int64
    /// The user's own organization.
    package let home: OrganizationReference
    /// Whether `home` is the SYSTEM organization.
    package let isSystem: Bool
    /// The organization that the call concerns: `home`, or the one that an admin of SYSTEM named with `x-organization`.
    package var organization: OrganizationReference
    /// The session of the call's token; `nil` for service accounts and API tokens.
    package var sessionID: String?
    /// The id of the API token by which the user is authenticated; `nil` if it is another token.
    package var apiTokenID: String?
    /// Whether the call named its organization, and so concerns only that one, also SYSTEM.
    var namesOrganization = false
    /// Whether the API token is limited to some organizations, and so never acts for all of them.
    var isLimitedToOrganizations = false
    /// Whether the session lacks the second factor that the organization requires.
    var lacksSecondFactor = false

    package init(
        userID: Int64, name: String, role: Role, epoch: Int64, home: OrganizationReference, isSystem: Bool
    ) {
        self.userID = userID
        self.name = name
        self.role = role
        self.epoch = epoch
        self.home = home
        self.isSystem = isSystem
        organization = home
    }

    /// The name in the audit log.
    var auditName: String { Principal.user(self).name }

    /// Whether the call concerns all organizations, or SYSTEM itself.
    var actsForAll: Bool { isSystem && organization == home && !isLimitedToOrganizations }

    /// The organization whose objects the user sees; `nil` = all, for users of SYSTEM who named none.
    package var objectScope: Int64? {
        actsForAll && !namesOrganization ? nil : organization.id
    }
}

extension CallContext {
    /// The caller; `nil` if the access table admits anyone.
    package var principal: Principal? {
        identity as? Principal
    }

    /// The calling user.
    ///
    /// - Throws: UNAUTHENTICATED for any other caller, which the access table refuses earlier.
    package var user: UserPrincipal {
        get throws(RPCError) {
            guard case .user(let user) = principal else {
                throw RPCError(.unauthenticated, "this call requires a user's token")
            }
            return user
        }
    }

    /// The calling device or site.
    ///
    /// - Throws: UNAUTHENTICATED for any other caller, which the access table refuses earlier.
    package var keyOwner: KeyOwner {
        get throws(RPCError) {
            switch principal {
            case .device(let device): return .device(device)
            case .site(let site): return .site(site)
            case .user, .certificate, nil: throw RPCError(.unauthenticated, "this call requires an API key's token")
            }
        }
    }
}

/// The owner of an API key.
package enum KeyOwner: Sendable, Hashable {
    case device(DevicePrincipal)
    case site(SitePrincipal)

    package var key: APIKeyReference {
        switch self {
        case .device(let device): device.key
        case .site(let site): site.key
        }
    }

    package var organizationID: Int64 {
        switch self {
        case .device(let device): device.organizationID
        case .site(let site): site.organizationID
        }
    }

    package var siteID: Int64 {
        switch self {
        case .device(let device): device.siteID
        case .site(let site): site.siteID
        }
    }
}
