internal import Foundation
internal import GRDB
internal import TrackingJournal
internal import TrackingReport

/// The names and totals of deliveries: in the file of `--deliveries`, or in a data directory.
enum DeliveryNamesFile {
    /// What the option takes, for its help.
    static let columns = """
        A CSV file with the columns id, name, product, sent_at, platform, sent, delivered and \
        failed, of which only id is required
        """

    /// Reads the names in a file.
    ///
    /// - Throws: `FileReadError`, or `InputError` with the line of the first fault.
    static func read(_ file: String) throws -> DeliveryNames {
        DeliveryNames(try self.table(file).rows.map(\.totals))
    }

    /// Reads a file.
    ///
    /// - Throws: `FileReadError`, or `InputError` with the line of the first fault.
    static func table(_ file: String) throws -> DeliveryTotalsTable {
        guard let data = try InputFile.read(file, upTo: DeliveryTotalsTable.maxBytes) else {
            throw InputError(
                file: file, reason: "it has more than \(DeliveryTotalsTable.maxBytes) bytes")
        }
        do {
            return try DeliveryTotalsTable(csv: data)
        } catch {
            throw InputError(file: file, reason: "\(error)")
        }
    }

    /// The names of what tenants have put, of one of them or of all; nil if there is none.
    ///
    /// - Throws: `DatabaseFileError`, `FileFormatError`, SQLite's error, or `RowDecodingError`.
    static func stored(
        in dataDirectory: String, tenant: String?
    ) async throws -> DeliveryNames? {
        do {
            let deliveries = try await self.database(in: dataDirectory).read { database in
                try DeliveryTotalsFile.all(tenant: tenant, in: database)
            }
            return deliveries.isEmpty ? nil : DeliveryNames(deliveries)
        } catch DatabaseFileError.missing {
            // As beside a copy of hits.db, or of a server of an earlier build.
            return nil
        }
    }

    /// Opens deliveries.db of a data directory.
    ///
    /// - Throws: `DatabaseFileError`, `FileFormatError`.
    static func database(in dataDirectory: String) throws -> DatabaseQueue {
        try DatabaseFile.open(
            DeliveryTotalsFile.name, in: dataDirectory,
            formatVersion: DeliveryTotalsFile.formatVersion)
    }
}
