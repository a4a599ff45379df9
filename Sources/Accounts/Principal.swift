import Basics
import GatewayAPI
import RPC

/// The caller of a call, as the database knew it when the call came.
package enum Principal: Sendable, Hashable {
    case device(DevicePrincipal)
    case site(SitePrincipal)
    case user(UserPrincipal)
    /// A program, by the certificate that it showed.
    case certificate(subject: String)
}

extension Principal {
    /// The name in the audit log and in the server's log: `device:261121-000001`, `site:7`, `user:system/admin`.
    package var name: String {
        let parts = nameParts
        return "\(parts.kind):\(parts.scope.map { "\($0)/" } ?? "")\(parts.name)"
    }

    /// What ``name`` is made of. The log, which has it in each call's line, makes no text of it.
    private var nameParts: (kind: String, scope: String?, name: String) {
        switch self {
        case .device(let device): ("device", nil, device.deviceID)
        case .site(let site): ("site", nil, "\(site.siteID)")
        case .user(let user): ("user", user.home.name, user.name)
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

    /// The organization that the call is about; `nil` = any.
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
    /// The owner under which the principal's writes wait: a device or site for itself, all users of an organization together.
    var workOwner: WorkOwner {
        switch self {
        case .device(let device): .apiKey(device.key.id)
        case .site(let site): .apiKey(site.key.id)
        case .user(let user): .organization(user.home.id)
        case .certificate(let subject): .other(subject)
        }
    }
}

/// An API key as what is issued to its owner names it: worth nothing once the key's epoch is another.
package struct APIKeyReference: Sendable, Hashable {
    package let id: String
    /// Raised whenever what was issued for the key must stop: disabled, held, rotated.
    package let epoch: Int64

    package init(id: String, epoch: Int64) {
        self.id = id
        self.epoch = epoch
    }
}

/// A device, by its own key.
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

/// A site, by one of its keys.
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

/// An organization as a principal carries it.
package struct OrganizationReference: Sendable, Hashable {
    package let id: Int64
    package let name: String

    package init(id: Int64, name: String) {
        self.id = id
        self.name = name
    }
}

/// A person, by their login.
package struct UserPrincipal: Sendable, Hashable {
    package let userID: Int64
    package let name: String
    package let role: Role
    package let epoch: Int64
    /// Where the user belongs.
    package let home: OrganizationReference
    /// Whether `home` is the SYSTEM organization.
    package let isSystem: Bool
    /// The organization the call is about: `home`, or the one that an admin of SYSTEM named by `x-organization`.
    package var organization: OrganizationReference

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

    /// The organization whose objects the user sees; `nil` = every one's, for SYSTEM that named none.
    package var objectScope: Int64? {
        isSystem && organization == home ? nil : organization.id
    }
}

extension CallContext {
    /// The caller; `nil` where the access table lets anyone in.
    package var principal: Principal? {
        identity as? Principal
    }

    /// The user who calls.
    ///
    /// - Throws: UNAUTHENTICATED where it is not one; the access table has seen to it before.
    package var user: UserPrincipal {
        get throws(RPCError) {
            guard case .user(let user) = principal else {
                throw RPCError(.unauthenticated, "this call requires a user's token")
            }
            return user
        }
    }

    /// The device or site that calls, by its API key.
    ///
    /// - Throws: UNAUTHENTICATED where it is neither; the access table has seen to it before.
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

/// Whom an API key speaks for.
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
