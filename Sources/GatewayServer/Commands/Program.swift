package import CommandLineInterface
import DeviceCommands

/// The program `data-gateway`: finds the command of a command line, and runs it.
package enum Program: CompletedProgram {
    package static let commands = CommandGroup(
        "data-gateway", "Receive files from devices, store them, and deliver them to users",
        [
            .command(ServeCommand.self),
            .command(Login.self),
            .command(Logout.self),
            .command(WhoAmI.self),
            .command(Quickstart.self),
            .group(
                CommandGroup(
                    "context", "Manage contexts, for several gateways or users",
                    [.command(ContextAdd.self), .command(ContextUse.self), .command(ContextList.self)])),
            .group(
                CommandGroup(
                    "account", "Manage your own user",
                    [
                        .command(AccountShow.self),
                        .command(AccountPassword.self),
                        .group(
                            CommandGroup(
                                "second-factor", "Manage your second factor",
                                [
                                    .command(SecondFactorEnable.self),
                                    .command(SecondFactorDisable.self),
                                    .command(SecondFactorRecovery.self),
                                ])),
                    ])),
            .group(
                CommandGroup(
                    "session", "Show and end your sessions", [.command(SessionList.self), .command(SessionRevoke.self)])
            ),
            .group(
                CommandGroup(
                    "token", "Manage API tokens for your programs",
                    [.command(TokenCreate.self), .command(TokenList.self), .command(TokenRevoke.self)])),
            DeviceCommands.initialize,
            DeviceCommands.upload,
            DeviceCommands.agent,
            .command(ListObjects.self),
            .command(Download.self),
            .command(Remove.self),
            .group(
                CommandGroup(
                    "site", "Manage sites, the places of devices",
                    [
                        .command(SiteCreate.self),
                        .command(SiteList.self),
                        .command(SiteShow.self),
                        .command(SiteRename.self),
                        .command(SiteSetTimeZone.self),
                        .command(SiteSetSilentAfter.self),
                        .command(SiteEnable.self),
                        .command(SiteDisable.self),
                        .command(SiteDelete.self),
                    ])),
            .group(
                CommandGroup(
                    "device", "Manage devices and their suites",
                    [
                        .group(
                            CommandGroup(
                                "suite", "Manage suites, groups of devices at one site",
                                [
                                    .command(DeviceSuiteCreate.self),
                                    .command(DeviceSuiteList.self),
                                    .command(DeviceSuiteShow.self),
                                    .command(DeviceSuiteRename.self),
                                    .command(DeviceSuiteSetSilentAfter.self),
                                    .command(DeviceSuiteAdd.self),
                                    .command(DeviceSuiteRemove.self),
                                    .command(DeviceSuiteDelete.self),
                                ])),
                        .group(
                            CommandGroup(
                                "address", "Announce new addresses of the gateway to devices",
                                [
                                    .command(DeviceAddressAnnounce.self),
                                    .command(DeviceAddressShow.self),
                                    .command(DeviceAddressWithdraw.self),
                                ])),
                        .command(DeviceRegister.self),
                        .command(DeviceList.self),
                        .command(DeviceShow.self),
                        .command(DeviceUpdate.self),
                        .command(DeviceEnable.self),
                        .command(DeviceDisable.self),
                        .command(DeviceRotate.self),
                        .command(DeviceAllowReinit.self),
                        .command(DeviceRetire.self),
                        .command(DeviceUnretire.self),
                        .command(DeviceDelete.self),
                        .command(DeviceImport.self),
                        .command(DeviceExport.self),
                        .command(DeviceConfig.self),
                    ])),
            .group(
                CommandGroup(
                    "user", "Manage the users of an organization",
                    [
                        .command(UserCreate.self),
                        .command(UserInvite.self),
                        .command(UserListInvitations.self),
                        .command(UserWithdrawInvitation.self),
                        .command(UserList.self),
                        .command(UserFind.self),
                        .command(UserShow.self),
                        .command(UserUpdate.self),
                        .command(UserPassword.self),
                        .command(UserCredential.self),
                        .command(UserResetSecondFactor.self),
                        .command(UserDelete.self),
                    ])),
            .group(
                CommandGroup(
                    "identity", "Manage the identities with which users can sign in",
                    [.command(IdentityList.self), .command(IdentityUnlink.self)])),
            .group(
                CommandGroup(
                    "key", "Manage the API keys of sites and devices",
                    [
                        .command(KeyCreate.self),
                        .command(KeyList.self),
                        .command(KeyShow.self),
                        .command(KeyRotate.self),
                        .command(KeyEnable.self),
                        .command(KeyDisable.self),
                        .command(KeyDelete.self),
                    ])),
            .group(
                CommandGroup(
                    "org", "Manage the organizations of a gateway",
                    [
                        .command(OrganizationCreate.self),
                        .command(OrganizationList.self),
                        .command(OrganizationShow.self),
                        .command(OrganizationUpdate.self),
                        .command(OrganizationSignIn.self),
                        .command(OrganizationDelete.self),
                    ])),
            .group(
                CommandGroup(
                    "object", "Manage stored objects",
                    [
                        .command(ObjectShow.self),
                        .command(ObjectFind.self),
                        .command(ObjectUsage.self),
                        .command(ObjectCat.self),
                        .command(ObjectShare.self),
                        .command(ObjectUpdate.self),
                        .command(ObjectDelete.self),
                        .command(TrashRestore.self),
                        .command(ObjectListCorrupted.self),
                        .group(
                            CommandGroup(
                                "operation", "Show, cancel and undo deletions by filter",
                                [
                                    .command(OperationShow.self), .command(OperationList.self),
                                    .command(OperationCancel.self), .command(OperationUndo.self),
                                ])),
                        .group(
                            CommandGroup(
                                "retention", "Manage the retention of objects",
                                [.command(RetentionSet.self), .command(RetentionShow.self)])),
                    ])),
            .group(
                CommandGroup(
                    "uploads", "Show and abort uploads in progress, and list those that failed",
                    [.command(UploadsList.self), .command(UploadsListFailed.self), .command(UploadsAbort.self)])),
            .group(
                CommandGroup(
                    "trash", "Restore deleted objects, or delete them permanently",
                    [
                        .command(TrashList.self),
                        .command(TrashRestore.self),
                        .command(TrashPurge.self),
                        .command(TrashEmpty.self),
                        .command(TrashShow.self),
                        .command(TrashSet.self),
                    ])),
            .group(
                CommandGroup(
                    "copy", "Copy objects to the folders and buckets in the gateway's configuration",
                    [
                        .command(CopyCreate.self),
                        .command(CopyList.self),
                        .command(CopyShow.self),
                        .command(CopyItems.self),
                        .command(CopyCancel.self),
                    ])),
            .group(
                CommandGroup(
                    "objects", "Copy the bytes of all objects to another engine",
                    [
                        .command(EngineCopyStart.self), .command(EngineCopyShow.self), .command(EngineCopyStop.self),
                    ])),
            .group(
                CommandGroup(
                    "config", "Show and check a gateway's configuration",
                    [.command(ConfigCheck.self), .command(ConfigShow.self)])),
            .group(
                CommandGroup(
                    "database", "Copy the database to a PostgreSQL server or back, and migrate its tables",
                    [.command(DatabaseCopyCommand.self), .command(DatabaseMigrate.self)])),
            .group(CommandGroup("cluster", "Create a database for several gateways", [.command(ClusterInit.self)])),
            .group(
                CommandGroup(
                    "clock", "Show or confirm the clock that deletions by age use",
                    [.command(ClockShow.self), .command(ClockConfirm.self)])),
            .group(CommandGroup("keys", "Manage the keys that sign access tokens", [.command(KeysRotate.self)])),
            .group(
                CommandGroup(
                    "events", "Show webhooks and deliveries, and redeliver events that could not be delivered",
                    [
                        .command(EventsWebhooks.self),
                        .command(EventsDeliveries.self),
                        .command(EventsTest.self),
                        .command(EventsRetry.self),
                        .command(EventsDeadLetters.self),
                        .command(EventsRedeliver.self),
                    ])),
            .command(GatewayStatus.self),
            .command(AuditLog.self),
            .command(StatisticsShow.self),
            .command(StorageShow.self),
            .group(CommandGroup("backup", BackUp.summary, [.command(BackupVerify.self)], own: BackUp.self)),
            .command(RestoreCommand.self),
            .command(DoctorCommand.self),
            .command(SupportBundle.self),
            .command(Completion<Program>.self),
            .command(Version.self),
        ],
        sections: [
            ("Device", ["init", "upload", "agent"]),
            ("Objects", ["ls", "download", "rm", "object", "uploads", "trash", "copy"]),
            ("Sign-in", ["login", "logout", "whoami", "account", "session", "token", "context"]),
            ("Organization", ["site", "device", "user", "identity", "key", "org"]),
            (
                "Gateway",
                [
                    "serve", "status", "support-bundle", "config", "database", "cluster", "objects", "audit",
                    "statistics", "storage",
                    "events", "clock",
                    "keys",
                ]
            ),
            ("Backup", ["backup", "restore", "doctor"]),
        ],
        guide: CommandGroup.Guide(
            """
            An administrator runs a gateway, signs in, and registers a device in a suite at a site. The device fetches its \
            key and uploads; a signed-in user finds and downloads the objects.
            """,
            steps: [
                "serve --data-dir ./data",
                "login --user admin",
                "site create 'Plant 1'",
                "device suite create --site 'Plant 1' --display-name 'Line 3'",
                "device register 260427-000001 --suite 'Line 3'",
                "init 260427-000001",
                "upload recordings",
                "ls 'name:*drive*'",
                "download drive.mcap",
            ]))

    private static let program = CommandProgram(commands)

    /// - Parameter words: the command line without the program's name.
    package static func run(_ words: [String], in environment: CommandEnvironment) async -> ExitCode {
        await program.run(words, in: environment)
    }

    /// Returns the request of `words`.
    static func request(_ words: [String]) throws(UsageError) -> CommandProgram.Request { try program.request(words) }
}
