internal import Foundation
internal import GRDB
internal import Storage
internal import TrackingRules

extension ReportQuery {
    /// Selects the rows of `counts` for this query, which is one of whole steps. A range of hours
    /// without a condition around it, so that SQLite reads no others.
    static let condition = "\(Self.place) AND \(Self.times)"

    /// The times of `condition`.
    static let times = "hour >= :firstHour AND hour < :endHour"

    /// The rest of `condition`.
    static let place = """
        (:tenant IS NULL OR tenant = (SELECT id FROM names WHERE text = :tenant))
            AND (:delivery IS NULL OR delivery = (SELECT id FROM names WHERE text = :delivery))
            AND (:app IS NULL OR app = (SELECT id FROM names WHERE text = :app))
            AND coalesce(app <> (SELECT id FROM names WHERE text = :hidden), 1)
        """

    /// Whether the hits themselves are read, and not the counts: these know neither when a hit
    /// happened nor how its event came.
    var readsHits: Bool { self.isByOccurrence || self.source != nil }

    /// The counts that this query reads: the table of this name, or a selection from the hits that
    /// has the same columns.
    var counts: String { self.readsHits ? "(\(self.counted))" : "counts" }

    /// The stored hits with the time by which they count, and its hour.
    var hits: String {
        """
        (SELECT *, time / \(Self.hour) AS hour FROM
            (SELECT *, \(self.time) AS time FROM \(self.storedHits)))
        """
    }

    /// The time by which a hit counts.
    private var time: String { self.isByOccurrence ? Self.occurrence : "receive_time" }

    /// The stored hits, of one source alone if the query names one.
    private var storedHits: String {
        guard let source else { return "stored_hits" }
        return "(SELECT * FROM stored_hits WHERE \(Self.sourceFunction)(event) = "
            + "\(source.rawValue))"
    }

    private static let sourceFunction = "sightline_source"

    /// Teaches a connection what the query's SQL asks for beside SQLite's own functions.
    func prepare(_ database: Database) {
        guard self.source != nil else { return }
        database.add(
            function: DatabaseFunction(Self.sourceFunction, argumentCount: 1, pure: true) {
                values in
                guard let event = Data.fromDatabaseValue(values[0]) else { return nil }
                return event.withUnsafeBytes { EventSource(of: $0).rawValue }
            })
    }

    /// When a hit happened. A device's clock may be wrong (D41): what is after the receipt, or
    /// before 1970, counts by its receipt.
    private static let occurrence =
        "iif(occur_time BETWEEN 0 AND receive_time, occur_time, receive_time)"

    /// Whether a kind is of what a sender reports.
    static let isSend =
        "kind BETWEEN \(HitKind.sent.rawValue) AND \(HitKind.sendSkipped.rawValue)"

    /// The kind by which a hit counts, as in the table: 0 for an impression of a payload that shows
    /// nothing (D63).
    static let countedKind = """
        iif(kind = \(HitKind.impression.rawValue) AND warnings IN (
            SELECT id FROM names WHERE ',' || text || ',' LIKE '%,nothing_shown,%'), 0, kind)
        """

    /// The first hit of a notification, and of an in-app message's recipient, is the one that
    /// happened first; so is the first attempt to send a notification, which counts by itself. A
    /// skipped notification is no attempt. Names of campaigns are in the table alone.
    private var counted: String {
        """
        SELECT time / \(Self.hour) AS hour, tenant, app, delivery, product, platform, kind,
            count(*) AS hits, sum(of_kind = 1) AS first_hits,
            sum(of_all = 1 AND kind <> \(HitKind.sendSkipped.rawValue)
                AND (product <> \(Product.firebase.rawValue) OR who <> '')) AS notifications,
            min(time) AS first_time, max(time) AS last_time, NULL AS campaign, 0 AS newest
        FROM (
            SELECT *,
                row_number() OVER (
                    PARTITION BY tenant, app, product, delivery, who, hit_kind ORDER BY time, id)
                    AS of_kind,
                row_number() OVER (
                    PARTITION BY tenant, app, product, delivery, who, source ORDER BY time, id)
                    AS of_all
            FROM (
                SELECT id, \(self.time) AS time, tenant, coalesce(app, 0) AS app, delivery,
                    product, coalesce(platform, 0) AS platform,
                    \(Self.countedKind) AS kind, kind AS hit_kind,
                    iif(product = \(Product.firebase.rawValue), coalesce(subject_id, ''),
                        broadlog_id) AS who,
                    CASE WHEN NOT (\(Self.isSend)) THEN 'device'
                        WHEN kind = \(HitKind.sendSkipped.rawValue) THEN 'skipped'
                        ELSE 'attempt' END AS source
                FROM \(self.storedHits)))
        GROUP BY 1, 2, 3, 4, 5, 6, 7
        """
    }

    /// The arguments of `condition`.
    var arguments: StatementArguments {
        self.placeArguments + [
            "firstHour": self.since.map { $0 / Self.hour } ?? Int64.min,
            "endHour": self.until.map { $0 / Self.hour } ?? Int64.max,
        ]
    }

    /// The arguments of `place`.
    var placeArguments: StatementArguments {
        [
            "tenant": self.tenant, "delivery": self.delivery, "app": self.app,
            "hidden": self.includesBench || self.app != nil ? nil : BenchMark.appID,
        ]
    }
}

/// The names of hits.db, which its rows have as numbers.
enum StoredName {
    /// SQL for the text of a name's number, whole; NULL for 0 or NULL, which stand for no name.
    static func text(_ number: String) -> String {
        let text = """
            coalesce((SELECT text FROM names WHERE id = \(number)), \
            '(name ' || \(number) || ' is missing)')
            """
        return "iif(\(number) > 0, \(WholeText.value(text)), NULL)"
    }

    /// The texts of numbers, without those that are missing.
    ///
    /// - Throws: SQLite's error.
    static func texts(of numbers: Set<Int64>, in database: Database) throws -> [Int64: String] {
        var texts: [Int64: String] = [:]
        let statement = try database.makeStatement(
            sql: "SELECT \(WholeText.value("text")) FROM names WHERE id = ?")
        for number in numbers {
            let text = try Data.fetchOne(statement, arguments: [number])
            texts[number] = text.map { String(decoding: $0, as: UTF8.self) }
        }
        return texts
    }

    /// What a report shows for a number without a text, as in a file that was repaired.
    static func missing(_ number: Int64) -> String { "(name \(number) is missing)" }
}
