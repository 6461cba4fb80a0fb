// `sightline sinks sql`: prints the DDL for operators who do not grant it to a sink.
internal import ArgumentParser
internal import PostgreSQLSink

extension SinksCommand {
    /// `sightline sinks sql`.
    struct SQL: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sql", abstract: "Print the SQL of a sink's tables, to be run by psql.",
            discussion: """
                For postgresql.migrate: false. It creates what is missing and changes nothing that \
                is there, so it may be run again, as each month for the partitions of the next.
                """)

        /// The sinks that have tables in a server.
        enum Kind: String, ExpressibleByArgument, CaseIterable {
            case postgresql
        }

        @Argument(help: "The sink's type: postgresql.")
        var kind: Kind

        @Option(help: "The schema, as postgresql.schema says.")
        var schema = PostgreSQLConfiguration().schema

        @Option(
            help: "Days ahead for which there are partitions.", transform: AmountOption.days)
        var days = 62

        @Option(
            help: "Days before today for which there are partitions.",
            transform: AmountOption.days)
        var lateDays = PostgreSQLConfiguration().lateDays

        func validate() throws {
            guard PostgreSQLSchema.isName(self.schema) else {
                throw ValidationError(
                    "--schema has to be 1 to 63 of the letters a to z, digits and _")
            }
            guard (0...3660).contains(self.days), (0...3660).contains(self.lateDays) else {
                throw ValidationError("--days and --late-days have to be from 0 to 3660")
            }
        }

        func run() {
            let schema = PostgreSQLSchema(self.schema)
            let today = CalendarDay.today.number
            let days = (today - self.lateDays...today + self.days).map { CalendarDay($0) }
            let partitions = days.map { schema.partitionCreation($0) }
            Console.out(
                (["BEGIN;", schema.creation] + partitions + ["COMMIT;"]).joined(separator: "\n"))
        }
    }
}
