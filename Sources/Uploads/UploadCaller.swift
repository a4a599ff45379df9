import Accounts
import Catalog
import Database
import ObjectStore
import StoreProtocol

/// The party that changes an upload: a device or site with its own key, or a user for a site.
struct UploadCaller: Sendable {
    private enum Party: Sendable {
        case key(KeyCaller)
        case user(Caller)
    }

    /// The owner of the uploads that the party begins, and the only owner whose uploads it changes.
    let owner: ObjectOwner
    private let party: Party

    init(_ caller: KeyCaller) {
        owner = ObjectOwner(caller.owner)
        party = .key(caller)
    }

    /// - Parameter siteID: a site of an organization for which the user acts; the caller has checked that.
    init(_ user: Caller, siteID: Int64, organizationID: Int64) {
        owner = ObjectOwner(organizationID: organizationID, siteID: siteID, suiteID: nil, deviceID: nil)
        party = .user(user)
    }

    /// The holder of temporary credentials that are issued to the party.
    var subject: CredentialClaims.Subject {
        switch party {
        case .key(let caller): .apiKey(id: caller.owner.key.id, epoch: caller.owner.key.epoch)
        case .user(let caller): .user(id: caller.user.userID, epoch: caller.user.epoch)
        }
    }

    /// The position of the call in its client's trace; `nil` if the client sent none.
    var traceparent: String? {
        switch party {
        case .key(let caller): caller.traceparent
        case .user(let caller): caller.traceparent
        }
    }

    /// Returns the audit line for successful work on `target`.
    func did(to target: String) -> AuditEntry {
        switch party {
        case .key(let caller): caller.did(to: target)
        case .user(let caller): caller.did(to: target)
        }
    }
}
