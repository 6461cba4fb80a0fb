internal import Foundation
package import GRDB
internal import Storage
internal import TrackingRules

extension DeliveryTotalsFile {
    /// The format of deliveries.db.
    package static let formatVersion = 1

    static let format = DataFile.Format(
        version: formatVersion, settings: "PRAGMA journal_mode = WAL", create: create)

    /// Texts are blobs: SQLite's own end at a zero byte. The triggers keep each tenant's count, and
    /// no figure of a delivery that is gone.
    @Sendable private static func create(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE deliveries (
                    id BLOB NOT NULL, tenant BLOB NOT NULL, name BLOB, product INTEGER,
                    sent_time INTEGER, put_time INTEGER NOT NULL, PRIMARY KEY (id, tenant))
                    WITHOUT ROWID;
                CREATE INDEX deliveries_by_time ON deliveries (put_time);
                CREATE TABLE platforms (
                    id BLOB NOT NULL, tenant BLOB NOT NULL, platform INTEGER NOT NULL,
                    sent INTEGER, delivered INTEGER, failed INTEGER,
                    PRIMARY KEY (id, tenant, platform)) WITHOUT ROWID;
                CREATE TABLE tenants (tenant BLOB PRIMARY KEY, deliveries INTEGER NOT NULL)
                    WITHOUT ROWID;
                CREATE TRIGGER delivery_added AFTER INSERT ON deliveries BEGIN
                    INSERT OR IGNORE INTO tenants VALUES (new.tenant, 0);
                    UPDATE tenants SET deliveries = deliveries + 1 WHERE tenant = new.tenant;
                END;
                CREATE TRIGGER delivery_deleted AFTER DELETE ON deliveries BEGIN
                    DELETE FROM platforms WHERE id = old.id AND tenant = old.tenant;
                    UPDATE tenants SET deliveries = deliveries - 1 WHERE tenant = old.tenant;
                    DELETE FROM tenants WHERE tenant = old.tenant AND deliveries = 0;
                END;
                """)
    }

    // MARK: Writing

    /// Deletes deliveries by when they were put last.
    static func deleteOld(before oldest: Int64, in database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM deliveries WHERE put_time < ?")
            .execute(arguments: [oldest])
    }

    /// Deletes a delivery; returns false if it is not there.
    static func delete(
        _ delivery: String, of tenant: String, in database: Database
    ) throws -> Bool {
        try database.cachedStatement(sql: "DELETE FROM deliveries WHERE id = ? AND tenant = ?")
            .execute(arguments: [Data(delivery.utf8), Data(tenant.utf8)])
        return database.changesCount > 0
    }

    /// Inserts a delivery that is not there.
    static func insert(
        _ totals: DeliveryTotals, of tenant: String, putTime: Int64, in database: Database
    ) throws {
        let (id, owner) = (Data(totals.delivery.utf8), Data(tenant.utf8))
        try database.cachedStatement(sql: "INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?)")
            .execute(arguments: [
                id, owner, totals.name.map { Data($0.utf8) },
                totals.product.map { Int64($0.rawValue) }, totals.sentTime, putTime,
            ])
        let insertion = try database.cachedStatement(
            sql: "INSERT INTO platforms VALUES (?, ?, ?, ?, ?, ?)")
        for figures in totals.platforms {
            try insertion.execute(arguments: [
                id, owner, Int64(figures.platform?.rawValue ?? 0), figures.sent,
                figures.delivered, figures.failed,
            ])
        }
    }

    // MARK: Reading

    /// The totals of a delivery, of one tenant or of each.
    ///
    /// - Throws: SQLite's error, or `RowDecodingError` for values that no build has written.
    package static func totals(
        of delivery: String, tenant: String?, in database: Database
    ) throws -> [DeliveryTotals] {
        try Self.totals(
            where: "id = :id AND (:tenant IS NULL OR tenant = :tenant)",
            ["id": Data(delivery.utf8), "tenant": tenant.map { Data($0.utf8) }], in: database)
    }

    /// The totals of several deliveries, of each tenant, by id and tenant.
    ///
    /// - Throws: SQLite's error, or `RowDecodingError` for values that no build has written.
    package static func totals(
        ofAny deliveries: [String], in database: Database
    ) throws -> [DeliveryTotals] {
        try Self.totals(
            where: "id IN (\(databaseQuestionMarks(count: deliveries.count)))",
            StatementArguments(deliveries.map { Data($0.utf8) }), in: database)
    }

    /// The totals of all deliveries, of one tenant or of each, by id and tenant.
    ///
    /// - Throws: SQLite's error, or `RowDecodingError` for values that no build has written.
    package static func all(
        tenant: String?, in database: Database
    ) throws -> [DeliveryTotals] {
        try Self.totals(
            where: ":tenant IS NULL OR tenant = :tenant",
            ["tenant": tenant.map { Data($0.utf8) }], in: database)
    }

    /// The totals that were put last, of each tenant. The index has them in this order, so that no
    /// others are read.
    static func recentTotals(
        limit: Int, in database: Database
    ) throws -> [DeliveryTotals] {
        try Self.totals(
            where: """
                (id, tenant) IN
                    (SELECT id, tenant FROM deliveries
                    ORDER BY put_time DESC, id DESC, tenant DESC LIMIT :limit)
                """, ["limit": limit], order: "put_time DESC, id DESC, tenant DESC",
            in: database)
    }

    private static func totals(
        where condition: String, _ arguments: StatementArguments, order: String = "id, tenant",
        in database: Database
    ) throws -> [DeliveryTotals] {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, tenant, name, product, sent_time, platform, sent, delivered, failed
                FROM deliveries LEFT JOIN platforms USING (id, tenant)
                WHERE \(condition) ORDER BY \(order), platform
                """, arguments: arguments)
        var all: [DeliveryTotals] = []
        while let row = try rows.next() {
            let totals = try DeliveryTotals(row)
            if let last = all.last, last.delivery.utf8.elementsEqual(totals.delivery.utf8),
                last.tenant.utf8.elementsEqual(totals.tenant.utf8)
            {
                all[all.count - 1].platforms += totals.platforms
            } else {
                all.append(totals)
            }
        }
        return all
    }
}

extension DeliveryTotals {
    /// A row of a delivery with the figures of one platform, or of none.
    fileprivate init(_ row: Row) throws {
        func text(_ index: Int) throws -> String? {
            try row.decode(Data?.self, atIndex: index).map { String(decoding: $0, as: UTF8.self) }
        }
        self.init(tenant: try text(1) ?? "", delivery: try text(0) ?? "")
        self.name = try text(2)
        self.product = try row.decode(UInt8?.self, atIndex: 3).flatMap(Product.init(rawValue:))
        self.sentTime = try row.decode(Int64?.self, atIndex: 4)
        guard let platform = try row.decode(Int32?.self, atIndex: 5) else { return }
        self.platforms = [
            OfPlatform(
                platform: Platform(rawValue: platform),
                sent: try row.decode(Int?.self, atIndex: 6),
                delivered: try row.decode(Int?.self, atIndex: 7),
                failed: try row.decode(Int?.self, atIndex: 8))
        ]
    }
}
