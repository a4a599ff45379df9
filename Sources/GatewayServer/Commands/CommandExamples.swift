// An example for each command whose source file has none. A test parses all of them.

extension ServeCommand { static let examples = ["serve --data-dir ./data"] }
extension Logout { static let examples = ["logout"] }
extension WhoAmI { static let examples = ["whoami"] }
extension AccountShow { static let examples = ["account show"] }
extension AccountPassword { static let examples = ["account passwd"] }
extension SecondFactorEnable { static let examples = ["account second-factor enable"] }
extension SecondFactorDisable { static let examples = ["account second-factor disable 123456"] }
extension SecondFactorRecovery { static let examples = ["account second-factor recovery-codes 123456"] }
extension SessionList { static let examples = ["session list"] }
extension SessionRevoke {
    static let examples = ["session revoke --id 01a207ad-93b5-7000-8719-cab4f82b164f", "session revoke --others"]
}
extension TokenCreate {
    static let examples = ["token create ci --expires 2027-01-31T08:00:00Z"]
}
extension TokenList { static let examples = ["token list"] }
extension TokenRevoke { static let examples = ["token revoke 7hR2kPq9Zx4LmN0b"] }
extension ListObjects { static let examples = ["ls 'weather=rain size>1MiB age<7d' --limit 20"] }
extension Remove {
    static let examples = [
        "rm drive.mcap", "rm d994febecb862e648978c8b0011144da --reason 'a test'", "rm --filter 'age>365d' --dry-run",
    ]
}

extension SiteCreate { static let examples = ["site create 'Plant 1'"] }
extension SiteList { static let examples = ["site list"] }
extension SiteShow { static let examples = ["site show 'Plant 1'"] }
extension SiteRename { static let examples = ["site rename 'Plant 1' 'North plant'"] }
extension SiteSetTimeZone { static let examples = ["site set-time-zone 'Plant 1' Europe/Berlin"] }
extension SiteSetSilentAfter { static let examples = ["site set-silent-after 'Plant 1' 5d"] }
extension SiteEnable { static let examples = ["site enable 'Plant 1'"] }
extension SiteDisable { static let examples = ["site disable 'Plant 1'"] }
extension SiteDelete { static let examples = ["site delete 'Plant 1'"] }

extension DeviceSuiteCreate {
    static let examples = ["device suite create --site 'Plant 1' --display-name 'Line 3'"]
}
extension DeviceSuiteList { static let examples = ["device suite list --site 'Plant 1'"] }
extension DeviceSuiteAdd { static let examples = ["device suite add 'Line 3' 260427-000001"] }
extension DeviceSuiteRemove { static let examples = ["device suite remove 'Line 3' 260427-000001"] }
extension DeviceSuiteDelete { static let examples = ["device suite delete 'Line 3'"] }

extension DeviceRegister {
    static let examples = [
        "device register --suite 'Line 3'", "device register 260427-000001 --suite 1 --tag line=3",
    ]
}
extension DeviceList { static let examples = ["device list --status initialized", "device list --retired"] }
extension DeviceShow { static let examples = ["device show 260427-000001"] }
extension DeviceUpdate { static let examples = ["device update 260427-000001 --tag line=4"] }
extension DeviceEnable { static let examples = ["device enable 260427-000001"] }
extension DeviceDisable { static let examples = ["device disable 260427-000001"] }
extension DeviceAllowReinit { static let examples = ["device allow-reinit 260427-000001"] }
extension DeviceRetire { static let examples = ["device retire 260427-000001"] }
extension DeviceUnretire { static let examples = ["device unretire 260427-000001"] }
extension DeviceDelete { static let examples = ["device delete 260427-000001"] }
extension DeviceImport { static let examples = ["device import devices.csv --dry-run"] }
extension DeviceExport { static let examples = ["device export"] }
extension DeviceConfig { static let examples = ["device config 260427-000001 --qr"] }

extension UserCreate { static let examples = ["user create alice --role operator"] }
extension UserList { static let examples = ["user list"] }
extension UserShow { static let examples = ["user show alice"] }
extension UserUpdate { static let examples = ["user update alice --role admin"] }
extension UserPassword { static let examples = ["user passwd alice"] }
extension UserCredential { static let examples = ["user credential robot-ci"] }
extension UserResetSecondFactor { static let examples = ["user reset-second-factor alice"] }
extension UserDelete { static let examples = ["user delete alice"] }

extension KeyCreate { static let examples = ["key create --site 'Plant 1' --name uploader"] }
extension KeyList { static let examples = ["key list --site 'Plant 1'"] }
extension KeyRotate { static let examples = ["key rotate 01a207ad-93b5-7000-8719-cab4f82b164f"] }
extension KeyEnable { static let examples = ["key enable 01a207ad-93b5-7000-8719-cab4f82b164f"] }
extension KeyDisable { static let examples = ["key disable 01a207ad-93b5-7000-8719-cab4f82b164f"] }
extension KeyDelete { static let examples = ["key delete 01a207ad-93b5-7000-8719-cab4f82b164f"] }

extension OrganizationCreate { static let examples = ["org create acme --admin boss --display-name 'Acme Ltd'"] }
extension OrganizationList { static let examples = ["org list"] }
extension OrganizationShow { static let examples = ["org show acme"] }
extension OrganizationUpdate { static let examples = ["org update acme --display-name 'Acme Ltd'"] }
extension OrganizationSignIn { static let examples = ["org sign-in --require-second-factor"] }
extension OrganizationDelete { static let examples = ["org delete acme"] }

extension ObjectUpdate {
    static let examples = ["object tag drive.mcap --tag weather=rain --remove-tag draft"]
}
extension ObjectDelete { static let examples = ["object rm drive.mcap --reason 'a test'"] }
extension ObjectListCorrupted { static let examples = ["object list-corrupted"] }
extension OperationShow { static let examples = ["object operation show 01a207ad-93b5-7000-8719-cab4f82b164f"] }
extension OperationList { static let examples = ["object operation list"] }
extension OperationCancel {
    static let examples = ["object operation cancel 01a207ad-93b5-7000-8719-cab4f82b164f"]
}
extension OperationUndo {
    static let examples = ["object operation undo 01a207ad-93b5-7000-8719-cab4f82b164f"]
}
extension RetentionSet { static let examples = ["object retention set 365 --dry-run"] }
extension RetentionShow { static let examples = ["object retention show"] }

extension TrashList { static let examples = ["trash list 'device=260427-000001'"] }
extension TrashRestore {
    static let examples = [
        "object restore drive.mcap", "trash restore d994febecb862e648978c8b0011144da",
        "trash restore --filter 'run=7' --dry-run",
    ]
}
extension TrashPurge {
    static let examples = [
        "trash purge d994febecb862e648978c8b0011144da", "trash purge --filter 'kind=test' --dry-run",
    ]
}
extension TrashEmpty { static let examples = ["trash empty --dry-run"] }
extension TrashShow { static let examples = ["trash show"] }
extension TrashSet { static let examples = ["trash set 30"] }

extension CopyCreate {
    static let examples = [
        "copy create drive.mcap --to file:///srv", "copy create 'run=7' --to file:///srv --key 'run7/{device}/{name}'",
    ]
}
extension CopyList { static let examples = ["copy list"] }
extension CopyShow { static let examples = ["copy show 01a201aa-d985-7000-9611-106545fcf05d"] }
extension CopyItems { static let examples = ["copy items 01a201aa-d985-7000-9611-106545fcf05d"] }
extension CopyCancel { static let examples = ["copy cancel 01a201aa-d985-7000-9611-106545fcf05d"] }

extension ConfigCheck { static let examples = ["config check --config /etc/data-gateway/config"] }
extension ConfigShow { static let examples = ["config show --config /etc/data-gateway/config"] }
extension ClockShow { static let examples = ["clock show"] }
extension ClockConfirm { static let examples = ["clock confirm"] }
extension KeysRotate { static let examples = ["keys rotate"] }
extension EventsDeadLetters { static let examples = ["events dead-letters --webhook pipeline"] }
extension EventsRedeliver { static let examples = ["events redeliver 019aa9f2-57c1-7000-8a67-0c4b0a2e5f11"] }
extension AuditLog { static let examples = ["audit --since 1h --follow"] }
extension StatisticsShow { static let examples = ["statistics --days 30"] }
extension StorageShow { static let examples = ["storage --by device", "storage --by raw_tags.run --limit 50"] }
extension BackUp { static let examples = ["backup --to monday.backup"] }
extension BackupVerify {
    static let examples = ["backup verify monday.backup", "backup verify monday.sealed --passphrase-file passphrase"]
}
extension RestoreCommand { static let examples = ["restore --from monday.backup --data-dir ./data"] }
extension DoctorCommand { static let examples = ["doctor --data-dir ./data --checksums"] }

extension EventsWebhooks { static let examples = ["events webhooks"] }
extension EventsDeliveries { static let examples = ["events deliveries pipeline --limit 20"] }
extension EventsTest { static let examples = ["events test pipeline"] }
extension EventsRetry { static let examples = ["events retry pipeline"] }
extension KeyShow { static let examples = ["key show 01a207ad-93b5-7000-8719-cab4f82b164f"] }
extension DeviceSuiteRename { static let examples = ["device suite rename 'Line 3' 'Line 3, hall 2'"] }
extension DeviceSuiteSetSilentAfter { static let examples = ["device suite set-silent-after 'Line 3' never"] }
extension DeviceSuiteShow { static let examples = ["device suite show 'Line 3'"] }
