// What is wrong with the keys of the postgresql sink.
package import ConfigurationKeys
package import SinkKit

extension PostgreSQLConfiguration: SinkConfiguration {
    #if !PostgreSQL
    /// Why a program that was built without the trait cannot have this sink.
    package static let absence: String? =
        "this program was built without it: swift build --traits PostgreSQL"
    #endif

    /// A schema has one cursor.
    package var exclusive: SinkExclusive? {
        SinkExclusive(
            [self.url, self.schema],
            problem: "two sinks have the schema \(self.schema) of one database, and so one cursor: "
                + "give one of them its own schema")
    }

    /// Refuses what the sink cannot use.
    package func check(
        _ problems: inout ConfigurationProblems<Self>, of sink: SinkInConfiguration
    ) {
        if self.url.isEmpty {
            problems.refuse(
                \.url,
                "the postgresql sink needs it, as in "
                    + "postgresql://sightline@db.example.com/sightline")
        } else {
            do throws(PostgreSQLURL.Refusal) {
                _ = try PostgreSQLURL(self.url)
            } catch {
                problems.refuse(\.url, "has to \(error)")
            }
        }
        if !PostgreSQLSchema.isName(self.schema) {
            problems.refuse(
                \.schema,
                "has to be 1 to 63 of the letters a to z, digits and _, and may begin neither "
                    + "with a digit nor with pg_")
        }
        self.checkPartitions(&problems)
        problems.refuse(\.tlsCertificate, without: \.tlsKey, in: self)
        problems.refuse(\.tlsKey, without: \.tlsCertificate, in: self)
        if ![.verifyCA, .verifyFull].contains(self.tlsMode), !self.tlsRoots.isEmpty {
            problems.refuse(
                \.tlsRoots,
                "\(Self.name(of: \.tlsMode)) is \(self.tlsMode.rawValue), which proves nothing: "
                    + "set it to verify-full")
        }
    }

    private func checkPartitions(_ problems: inout ConfigurationProblems<Self>) {
        guard self.retentionDays > 0 else { return }
        if !self.migrates {
            problems.refuse(
                \.retentionDays,
                "has to be 0 where \(Self.name(of: \.migrates)) is false: the sink then drops no "
                    + "partitions either")
        }
        if self.retentionDays <= self.lateDays {
            problems.refuse(
                \.retentionDays, "has to be 0, or more than \(Self.name(of: \.lateDays))")
        }
    }
}
