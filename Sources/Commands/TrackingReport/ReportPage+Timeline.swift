// The page's timeline: an SVG plot without text, so that it can stretch to the page's width, and a
// table of its figures for screen readers.

extension ReportPage {
    private static let plotHeight = 1000

    /// The plot of hits over time.
    var timelineFigure: HTML {
        guard let timeline = self.timeline, let first = timeline.steps.first,
            let last = timeline.steps.last
        else { return "" }
        let highest = max(timeline.steps.map(\.total).max() ?? 1, 1)
        let columns = timeline.steps.enumerated().map { index, step in
            self.column(step, at: index, highest: highest, label: timeline.label(step.start))
        }
        let end = last.start + timeline.stepSeconds * 1_000_000
        return """
            <section aria-labelledby="timeline">
            <h2 id="timeline">Hits by time</h2>
            <figure>
            <p class="axis"><span>\(highest) hits in \(Self.width(timeline.stepSeconds))</span></p>
            <svg viewBox="0 0 \("\(timeline.steps.count * 10)") \("\(Self.plotHeight)")" \
            preserveAspectRatio="none" role="img" aria-labelledby="timeline">
            \(columns)
            </svg>
            <p class="axis"><span>\(timeline.label(first.start))</span>\
            <span>\(timeline.label(end))</span></p>
            <figcaption>
            <ul class="legend">
            <li class="impressions">Impressions</li><li class="clicks">Clicks</li>
            <li class="opens">Opens</li><li class="inapp">In-app messages</li>
            </ul>
            </figcaption>
            </figure>
            <details>
            <summary>The plot's figures</summary>
            \(self.timelineTable(timeline))
            </details>
            </section>
            """
    }

    private func column(
        _ step: Timeline.Step, at index: Int, highest: Int, label: String
    ) -> HTML {
        var y = Self.plotHeight
        var parts: [HTML] = []
        for (count, kind) in [
            (step.impressions, "impressions"), (step.clicks, "clicks"), (step.opens, "opens"),
            (step.inApp, "inapp"),
        ] where count > 0 {
            // Any hit gets at least a thin line, if there is room.
            let share = Double(count) / Double(highest) * Double(Self.plotHeight)
            let height = min(max(Int(share.rounded()), 4), y)
            y -= height
            parts.append(
                """
                <rect class="\(kind)" x="\("\(index * 10 + 1)")" y="\("\(y)")" width="8" \
                height="\("\(height)")"/>
                """)
        }
        let total: HTML = "\(label): \(step.total) hits"
        return "<g><title>\(total)</title>\(parts)</g>"
    }

    private func timelineTable(_ timeline: Timeline) -> HTML {
        let heading = ["From", "Impressions", "Clicks", "Opens", "In-app messages"]
            .map(Self.heading)
        let rows = timeline.steps.filter { $0.total > 0 }.map { step -> HTML in
            """
            <tr><th scope="row">\(timeline.label(step.start))</th>\(Self.cell(step.impressions))\
            \(Self.cell(step.clicks))\(Self.cell(step.opens))\(Self.cell(step.inApp))</tr>
            """
        }
        return Self.table(
            "Hits in steps of \(Self.width(timeline.stepSeconds))", heading: heading, rows: rows)
    }

    /// A duration in the largest unit that divides it, e.g. `15 minutes`.
    static func width(_ seconds: Int64) -> String {
        let units: [(Int64, String)] = [(86_400, "day"), (3600, "hour"), (60, "minute")]
        for (unit, name) in units where seconds.isMultiple(of: unit) {
            return "\(seconds / unit) \(name)" + (seconds == unit ? "" : "s")
        }
        return "\(seconds) second" + (seconds == 1 ? "" : "s")
    }
}

extension Timeline {
    fileprivate func label(_ time: Int64) -> String {
        ReportTime.plain(time, hasSeconds: self.stepSeconds < 60)
    }
}
