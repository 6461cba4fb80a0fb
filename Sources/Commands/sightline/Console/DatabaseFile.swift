internal import Foundation
internal import GRDB
internal import Storage
internal import TrackingJournal
internal import TrackingReport
internal import WireFormat

/// Opens the server's databases read-only, even while it runs.
enum DatabaseFile {
    /// Opens `file` in the server's data directory.
    ///
    /// - Parameters:
    ///   - formatVersion: the format that the file must have.
    /// - Throws: `DatabaseFileError` if it is missing, unreadable or empty, `FileFormatError` if it
    ///   has another format.
    static func open(
        _ file: String, in dataDirectory: String, formatVersion: Int
    ) throws -> DatabaseQueue {
        let path = URL(filePath: dataDirectory, directoryHint: .isDirectory)
            .appending(path: file, directoryHint: .notDirectory).path(percentEncoded: false)
        guard FileManager.default.fileExists(atPath: path) else {
            throw DatabaseFileError.missing(path: path)
        }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(2)
        do {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            let isWritten = try database.read { database in
                try DatabaseFormat(version: formatVersion).isWritten(in: database, at: path)
            }
            guard isWritten else {
                throw DatabaseFileError.unreadable(path: path, reason: "it has no tables yet")
            }
            return database
        } catch let error as FileFormatError {
            throw error
        } catch let error as DatabaseFileError {
            throw error
        } catch {
            throw DatabaseFileError.unreadable(path: path, reason: "\(error)")
        }
    }
}

/// A database is missing or unreadable.
enum DatabaseFileError: Error, CustomStringConvertible {
    case missing(path: String)
    case unreadable(path: String, reason: String)

    var description: String {
        switch self {
        case .missing(let path):
            return "there is no database at \(path.printable). Name the server's directory with "
                + "--data-dir (default \(Defaults.dataDirectory)); the file comes with the first "
                + "`sightline serve`, hits.db only with its sink sqlite"
        case .unreadable(let path, let reason):
            return "the database \(path.printable) cannot be read: \(reason.printable). See that "
                + "it is the server's and that you may read the directory"
        }
    }
}
