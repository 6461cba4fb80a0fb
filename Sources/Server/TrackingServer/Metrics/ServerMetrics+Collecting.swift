internal import AdminServer
internal import CoreMetrics
internal import Credentials
internal import Delivery
internal import Foundation
internal import HTTP2Edge
internal import Operations
internal import Pacing
internal import ServerConfiguration
internal import SinkKit
internal import Telemetry
internal import TrackingJournal

extension ServerMetrics {
    /// Reports the build, memory and connections at each scrape.
    func collect(_ parts: ServedParts, build: Build) {
        let budget = parts.ingest.budget
        let traits = build.traits.joined(separator: ",")
        self.registry.meter(.buildInfo, build.version, build.commit, build.swift, traits).set(1)
        self.registry.meter(.memoryInFlightLimit).set(budget.hardBytes)
        let memory = self.registry.meter(.memoryInFlight)
        let open = self.registry.meter(.connections)
        let openDoors = self.registry.meter(.doorConnections)
        self.registry.onCollect {
            memory.set(budget.bytesInFlight)
            open.set(parts.connections.count)
            openDoors.set(parts.doorConnections.count)
        }
    }

    /// Reports the journal and what the data directory holds beside it at each scrape.
    func collect(journal: Journal, stores: DataStores, dataDirectory: String) {
        self.collect(journal)
        self.collect(stores.sinks, dataDirectory: dataDirectory)
        self.collect(stores.deliveries)
        if let quarantine = stores.quarantine { self.collect(quarantine) }
    }

    /// Reports at each scrape whether the server takes events, and what not every server has.
    func collect(_ parts: ServedParts, reloader: Reloader?, spans: SpanCounts?) {
        self.collect(parts.board)
        if let reloader { self.collect(reloader) }
        if let certificates = parts.access.certificates { self.collect(certificates) }
        if let spans { self.collect(spans) }
    }

    private func collect(_ board: HealthBoard) {
        let ready = self.registry.meter(.ready)
        self.registry.onCollect { ready.set(board.notReadyReasons.isEmpty ? 1 : 0) }
    }

    /// Reports at each scrape what came of the last reload.
    private func collect(_ reloader: Reloader) {
        let succeeded = self.registry.meter(.reloadSucceeded)
        let time = self.registry.meter(.reloadTime)
        self.registry.onCollect {
            let outcome = reloader.outcome
            succeeded.set(outcome.isInForce ? 1 : 0)
            time.set(Double(outcome.time) / 1e6)
        }
    }

    /// Reports the journal at each scrape.
    private func collect(_ journal: Journal) {
        self.registry.meter(.journalLimit).set(journal.maxStoredBytes)
        let bytes = self.registry.meter(.journalBytes)
        let oldestAge = self.registry.meter(.journalOldestAge)
        let ledgerRows = self.registry.meter(.ledgerRows)
        self.registry.meter(.ledgerLimit).set(journal.configuration.ledger.maxRows)
        self.registry.meter(.windowLimit).set(journal.configuration.windowCapacity)
        let windowKeys = self.registry.meter(.windowKeys)
        self.registry.onCollect {
            windowKeys.set(journal.windowKeys)
            bytes.set(journal.storedBytes)
            ledgerRows.set(journal.ledgerRowCount)
            oldestAge.set(Self.age(of: journal.oldestTime))
        }
    }

    /// Reports at each scrape the sinks' backlogs and files, and what is free beside these. A sink
    /// that was removed is reported no more.
    private func collect(_ running: RunningSinks, dataDirectory: String) {
        let free = self.registry.meter(.diskFree)
        self.registry.onCollect {
            let sinks = running.sinks
            self.registry.retain("sink", Set(sinks.map(\.name)))
            for sink in sinks { self.set(sink, running.journal.lag(of: sink.name)) }
            if let bytes = DiskUsage.freeBytes(beside: dataDirectory) { free.set(bytes) }
        }
    }

    private func set(_ sink: RunningSink, _ lag: Journal.Lag) {
        let meters = self.registry
        meters.meter(.sinkLagGroups, sink.name).set(lag.groups)
        meters.meter(.sinkLag, sink.name).set(Self.age(of: lag.oldestTime))
        meters.meter(.sinkLagBytes, sink.name).set(lag.bytes)
        meters.meter(.sinkPaused, sink.name).set(sink.state.isPaused ? 1 : 0)
        if let usage = sink.usage { meters.meter(.sinkBytes, sink.name).set(usage.bytes()) }
        if let brokers = sink.opened.brokers?() { self.set(brokers, of: sink.name) }
    }

    private func set(_ brokers: BrokerStatistics, of sink: String) {
        let meters = self.registry
        meters.meter(.sinkQueuedHits, sink).set(brokers.queuedHits)
        meters.meter(.connectedBrokers, sink).set(brokers.connectedBrokers)
        meters.meter(.brokerRoundTrip, sink).set(brokers.roundTripSeconds)
        meters.meter(.brokerRetries, sink).set(brokers.retries)
        meters.meter(.brokerTimeouts, sink).set(brokers.timeouts)
    }

    /// Reports the kept refused events at each scrape.
    private func collect(_ quarantine: Quarantine) {
        let bytes = self.registry.meter(.quarantineBytes)
        let kept = self.registry.meter(.quarantineEvents, "kept")
        let dropped = self.registry.meter(.quarantineEvents, "dropped")
        let evicted = self.registry.meter(.quarantineEvents, "evicted")
        self.registry.onCollect {
            let counts = quarantine.currentCounts
            bytes.set(counts.bytes)
            kept.set(counts.kept)
            dropped.set(counts.dropped)
            evicted.set(counts.evicted)
        }
    }

    /// Reports at each scrape how full deliveries.db is.
    private func collect(_ deliveries: DeliveryTotalsFile) {
        self.registry.meter(.deliveriesLimit).set(deliveries.maxRows)
        let rows = self.registry.meter(.deliveriesRows)
        self.registry.onCollect { rows.set(deliveries.rowCount) }
    }

    /// Reports the expiry of the current certificate at each scrape.
    private func collect(_ certificates: ServerCertificates) {
        let expiry = self.registry.meter(.certificateExpiry)
        self.registry.onCollect { expiry.set(certificates.expiry.timeIntervalSince1970) }
    }

    /// Reports the outcomes of recorded spans at each scrape.
    private func collect(_ spans: SpanCounts) {
        let exported = self.registry.meter(.spans, "exported")
        let dropped = self.registry.meter(.spans, "dropped")
        let failed = self.registry.meter(.spans, "failed")
        self.registry.onCollect {
            exported.set(spans.count(of: .exported))
            dropped.set(spans.count(of: .queueFull) + spans.count(of: .stopped))
            failed.set(spans.count(of: .failed) + spans.count(of: .rejected))
        }
    }

    /// Seconds since a time in microseconds since 1970; 0 for nil.
    private static func age(of time: Int64?) -> Double {
        guard let time else { return 0 }
        return Double(max(0, WallClock.microseconds() &- time)) / 1e6
    }
}
