import HTTPTypes

/// A static file of the console, from the folder `Assets`; the files are compiled into the program.
struct Asset: Sendable {
    private enum Kind: String {
        case page = "text/html; charset=utf-8"
        case style = "text/css; charset=utf-8"
        case script = "text/javascript; charset=utf-8"
        case picture = "image/svg+xml"
    }

    private let kind: Kind
    private let bytes: [UInt8]

    /// - Parameter name: the path after `/console/`; empty for the page itself.
    static func named(_ name: Substring) -> Asset? { all[String(name)] }

    var response: HTTPResponse { .console(200, ["Content-Type": kind.rawValue], body: .bytes(bytes)) }

    private static let all: [String: Asset] = [
        "": Asset(kind: .page, bytes: page),
        "console.css": Asset(kind: .style, bytes: PackageResources.console_css),
        "objects.css": Asset(kind: .style, bytes: PackageResources.objects_css),
        "uploads.css": Asset(kind: .style, bytes: PackageResources.uploads_css),
        "icon.svg": Asset(kind: .picture, bytes: PackageResources.icon_svg),
    ].merging(scripts.mapValues { Asset(kind: .script, bytes: $0) }) { first, _ in first }

    /// The page, which names all scripts: a browser then loads them at once, instead of one import after another.
    private static var page: [UInt8] {
        let links = scripts.keys.sorted().map { #"<link rel="modulepreload" href="/console/\#($0)">"# }
        let text = String(decoding: PackageResources.index_html, as: UTF8.self)
        return Array(text.replacing("<!-- modules -->", with: links.joined(separator: "\n    ")).utf8)
    }

    private static let scripts: [String: [UInt8]] = [
        "account.js": PackageResources.account_js,
        "actor.js": PackageResources.actor_js,
        "api.js": PackageResources.api_js,
        "app.js": PackageResources.app_js,
        "archive-upload.js": PackageResources.archive_upload_js,
        "audit-filter.js": PackageResources.audit_filter_js,
        "audit-sentence.js": PackageResources.audit_sentence_js,
        "audit.js": PackageResources.audit_js,
        "backup.js": PackageResources.backup_js,
        "chart.js": PackageResources.chart_js,
        "connection.js": PackageResources.connection_js,
        "copies.js": PackageResources.copies_js,
        "copy-dialog.js": PackageResources.copy_dialog_js,
        "corrupted-objects.js": PackageResources.corrupted_objects_js,
        "csv-plots.js": PackageResources.csv_plots_js,
        "device-activity.js": PackageResources.device_activity_js,
        "device-diagnosis.js": PackageResources.device_diagnosis_js,
        "device-list.js": PackageResources.device_list_js,
        "device-names.js": PackageResources.device_names_js,
        "device.js": PackageResources.device_js,
        "devices.js": PackageResources.devices_js,
        "dialog.js": PackageResources.dialog_js,
        "disk.js": PackageResources.disk_js,
        "dom.js": PackageResources.dom_js,
        "export-file.js": PackageResources.export_file_js,
        "facet-list.js": PackageResources.facet_list_js,
        "failed-uploads.js": PackageResources.failed_uploads_js,
        "file-type.js": PackageResources.file_type_js,
        "filter-outcome.js": PackageResources.filter_outcome_js,
        "filter-suggestions.js": PackageResources.filter_suggestions_js,
        "filter-terms.js": PackageResources.filter_terms_js,
        "first-steps.js": PackageResources.first_steps_js,
        "format.js": PackageResources.format_js,
        "gateways.js": PackageResources.gateways_js,
        "image-size.js": PackageResources.image_size_js,
        "invitation.js": PackageResources.invitation_js,
        "json-tree.js": PackageResources.json_tree_js,
        "keys.js": PackageResources.keys_js,
        "mcap.js": PackageResources.mcap_js,
        "missing-page.js": PackageResources.missing_page_js,
        "more-menu.js": PackageResources.more_menu_js,
        "navigation.js": PackageResources.navigation_js,
        "object-actions.js": PackageResources.object_actions_js,
        "object-columns.js": PackageResources.object_columns_js,
        "object-facets.js": PackageResources.object_facets_js,
        "object-folders.js": PackageResources.object_folders_js,
        "object-operation.js": PackageResources.object_operation_js,
        "object-row.js": PackageResources.object_row_js,
        "object-source.js": PackageResources.object_source_js,
        "object-table.js": PackageResources.object_table_js,
        "object.js": PackageResources.object_js,
        "objects.js": PackageResources.objects_js,
        "organization-choice.js": PackageResources.organization_choice_js,
        "organizations.js": PackageResources.organizations_js,
        "overview.js": PackageResources.overview_js,
        "palette.js": PackageResources.palette_js,
        "preview-mcap.js": PackageResources.preview_mcap_js,
        "preview.js": PackageResources.preview_js,
        "qr.js": PackageResources.qr_js,
        "ranges.js": PackageResources.ranges_js,
        "restore-steps.js": PackageResources.restore_steps_js,
        "restore.js": PackageResources.restore_js,
        "retention.js": PackageResources.retention_js,
        "retry.js": PackageResources.retry_js,
        "saved-searches.js": PackageResources.saved_searches_js,
        "selection.js": PackageResources.selection_js,
        "session-watch.js": PackageResources.session_watch_js,
        "settings.js": PackageResources.settings_js,
        "shortcuts.js": PackageResources.shortcuts_js,
        "sign-in.js": PackageResources.sign_in_js,
        "signing-keys.js": PackageResources.signing_keys_js,
        "silence.js": PackageResources.silence_js,
        "storage.js": PackageResources.storage_js,
        "suites.js": PackageResources.suites_js,
        "table.js": PackageResources.table_js,
        "text-width.js": PackageResources.text_width_js,
        "theme.js": PackageResources.theme_js,
        "time-zone.js": PackageResources.time_zone_js,
        "trash.js": PackageResources.trash_js,
        "trend.js": PackageResources.trend_js,
        "upload-dialog.js": PackageResources.upload_dialog_js,
        "upload-files.js": PackageResources.upload_files_js,
        "upload-panel.js": PackageResources.upload_panel_js,
        "upload-queue.js": PackageResources.upload_queue_js,
        "upload-rates.js": PackageResources.upload_rates_js,
        "upload-records.js": PackageResources.upload_records_js,
        "upload-transfer.js": PackageResources.upload_transfer_js,
        "uploads.js": PackageResources.uploads_js,
        "user-agent.js": PackageResources.user_agent_js,
        "users.js": PackageResources.users_js,
        "viewers.js": PackageResources.viewers_js,
        "virtual-table.js": PackageResources.virtual_table_js,
        "wait.js": PackageResources.wait_js,
        "webhooks.js": PackageResources.webhooks_js,
    ]
}
