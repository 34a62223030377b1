import SwiftUI

/// The list of rows, and the button that measures them.
struct ContentView: View {
    @EnvironmentObject private var measurement: Measurement
    @State private var chosen = Catalogue.rows(of: "kurkin")

    var body: some View {
        NavigationStack {
            List {
                ForEach(Catalogue.groups, id: \.name) { group in
                    Section(group.name) {
                        ForEach(group.rows) { row in
                            Button { toggle(row) } label: { label(row) }
                        }
                    }
                }
            }
            .disabled(measurement.isRunning)
            .navigationTitle("latlas")
            .toolbar {
                Menu("Select") {
                    Button("Kurkin's table") { chosen = Catalogue.rows(of: "kurkin") }
                    Button("Whole atlas") { chosen = [] }
                }
            }
            .safeAreaInset(edge: .bottom) { bar }
        }
        .sheet(item: $measurement.result) { ResultView(result: $0) }
        .alert(
            "Not measured",
            isPresented: Binding(
                get: { measurement.failure != nil },
                set: { if !$0 { measurement.failure = nil } }
            )
        ) {
            Button("OK", role: .cancel) {}
        } message: {
            Text(measurement.failure ?? "")
        }
    }

    private var bar: some View {
        VStack {
            if measurement.isRunning {
                ProgressView(value: measurement.fraction) {
                    Text("about \(Int(measurement.remaining)) s left; keep the app open")
                }
                Button("Stop", role: .destructive) { measurement.cancel() }
            } else {
                Button(chosen.isEmpty ? "Measure the whole atlas" : "Measure \(chosen.count) rows") {
                    measurement.start(chosen)
                }
                .buttonStyle(.borderedProminent)
            }
        }
        .padding()
        .frame(maxWidth: .infinity)
        .background(.bar)
    }

    private func label(_ row: Row) -> some View {
        HStack {
            VStack(alignment: .leading) {
                Text(row.title)
                Text(row.id).font(.caption).foregroundStyle(.secondary)
            }
            Spacer()
            if chosen.contains(row.id) { Image(systemName: "checkmark") }
        }
    }

    private func toggle(_ row: Row) {
        if chosen.remove(row.id) == nil { chosen.insert(row.id) }
    }
}

/// The tables of a run; its document can be shared.
struct ResultView: View {
    let result: Result

    var body: some View {
        NavigationStack {
            ScrollView([.horizontal, .vertical]) {
                VStack(alignment: .leading, spacing: 24) {
                    if result.isPartial { Text("Stopped: rows hold what was measured until then.") }
                    ForEach(result.tables, id: \.self) { table in
                        Text(table).font(.system(.caption2, design: .monospaced)).textSelection(.enabled)
                    }
                }
                .padding()
            }
            .toolbar { ShareLink(item: result.document) }
        }
    }
}
