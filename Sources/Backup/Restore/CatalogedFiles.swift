package import Database

/// The query of a restored database for the files of objects.
package struct CatalogedFiles {
    private let connection: ReadConnection

    package init(connection: ReadConnection) {
        self.connection = connection
    }

    /// Returns whether an object, also one in the trash, has this file.
    package func isListed(_ fileID: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM objects WHERE file_id = $1", fileID)
    }
}
