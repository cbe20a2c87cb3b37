#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "plan/async_kind.hpp"
#include "plan/method.hpp"
#include "plan/realm_kind.hpp"

namespace tamis {

enum class Switch : std::uint8_t { automatic, enable, disable };

/// Typed hints in force for a file. Names and defaults follow ROMIO where it has them.
/// Plain data; equal on every rank once the file is open.
struct Hints {
  std::int64_t cb_buffer_size = 16 << 20;  ///< staging memory per aggregator, bytes
  int cb_nodes = 0;                        ///< aggregators in all; 0: the plan decides
  std::string cb_config_list = "*:*";      ///< which nodes aggregate, how many ranks on each
  Switch romio_cb_read = Switch::automatic;
  Switch romio_cb_write = Switch::automatic;
  bool romio_no_indep_rw = false;
  Switch romio_ds_read = Switch::automatic;
  Switch romio_ds_write = Switch::automatic;
  std::optional<Method> tamis_method;           ///< for a rank's own bytes; none: the cheapest one
  std::int64_t ind_rd_buffer_size = 4 << 20;    ///< sieve window for reads, bytes
  std::int64_t ind_wr_buffer_size = 512 << 10;  ///< sieve window for writes, bytes
  std::optional<RealmKind> tamis_realms;        ///< how the file is dealt out; none: automatic
  std::vector<std::int64_t> tamis_realm_sizes;  ///< bytes, of realms dealt out in turn; empty: none
  Switch romio_cb_pfr = Switch::automatic;      ///< enable: persistent realms, as ROMIO says it
  std::int64_t romio_cb_fr_alignment = 0;       ///< of realms, bytes; 0: as the storage says
  std::int64_t romio_min_fdomain_size = 0;      ///< least bytes of a file realm
  std::int64_t striping_unit = 0;               ///< bytes; 0: as the storage says
  int striping_factor = 0;
  std::int64_t tamis_read_ahead =
      0;  ///< bytes a rank that walks along its view reads ahead; 0: none
  std::int64_t tamis_write_behind = 0;  ///< bytes of an aggregator's windows that wait; 0: none do
  int tamis_pretend_nodes = 0;  ///< split every node's ranks into this many (tests); 0, 1: off
  Switch tamis_shared_memory = Switch::automatic;  ///< staging in shared memory inside a node
  std::optional<AsyncKind> tamis_async;            ///< transfers beside other work; none: automatic
  Switch tamis_locks = Switch::automatic;          ///< byte-range locks around read-modify-write
  Switch tamis_counters = Switch::automatic;       ///< automatic: as the environment says
  std::string filesystem_type;                     ///< informative: the driver that serves the file

  bool operator==(const Hints&) const = default;
};

/// A hint as the user wrote it.
struct HintText {
  std::string key;
  std::string value;
  std::string defect = {};  ///< not empty: the source was malformed here, and how; never applied
  std::string source = {};  ///< who said it: "info", "TAMIS_HINTS", ...; informative
};

/// One line of the table that parser, docs, `MPI_File_get_info` and `tamis hints` read.
struct HintEntry {
  std::string_view key;
  std::string_view default_value;
  std::string_view range;     ///< "bytes, 1 to 2^40", "automatic | enable | disable", ...
  std::string_view sentence;  ///< what it does, one sentence
  /// Puts the value into `hints`; false where it is malformed or out of range (nothing changed).
  bool (*parse)(std::string_view value, Hints& hints);
  std::string (*print)(const Hints& hints);
  bool informative = false;  ///< said by the library; what a user gives is ignored
};

std::span<const HintEntry> hint_table();

/// A hint that was not taken over, and why ("unknown", "malformed: not a number", ...).
struct IgnoredHint {
  HintText hint;
  std::string reason;
};

/// Applies texts in order (later ones win). Unknown and malformed hints are ignored as the standard
/// says (section 14.2.8), but returned.
std::vector<IgnoredHint> apply_hints(std::span<const HintText> texts, Hints& hints);

/// All hints in force, as MPI_File_get_info shows them.
std::vector<HintText> to_texts(const Hints& hints);

/// Wire form for the one broadcast at open; `decode` fails on anything encode did not write.
std::string encode(const Hints& hints);
bool decode(std::string_view text, Hints& hints);

}  // namespace tamis
